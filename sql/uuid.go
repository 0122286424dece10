package sql

import (
	"encoding/binary"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgtype"
)

// Register teaches a connection to write and read google/uuid ids, one and in arrays, without detours. Without it
// everything works too, but pgx takes such ids for database/sql values and turns each into text and back: that was
// half of this process's CPU time in bench/singles.
func Register(m *pgtype.Map) {
	one := &pgtype.Type{Name: "uuid", OID: pgtype.UUIDOID, Codec: uuidCodec{}}
	m.RegisterType(one)
	m.RegisterType(&pgtype.Type{Name: "_uuid", OID: pgtype.UUIDArrayOID, Codec: uuidArrayCodec{&pgtype.ArrayCodec{ElementType: one}}})
}

// uuidCodec is pgx's, with a short cut for uuid.UUID in binary.
type uuidCodec struct{ pgtype.UUIDCodec }

// PlanEncode implements pgtype.Codec.
func (c uuidCodec) PlanEncode(m *pgtype.Map, oid uint32, format int16, value any) pgtype.EncodePlan {
	if _, ok := value.(uuid.UUID); ok && format == pgtype.BinaryFormatCode {
		return uuidPlan{}
	}
	return c.UUIDCodec.PlanEncode(m, oid, format, value)
}

// PlanScan implements pgtype.Codec.
func (c uuidCodec) PlanScan(m *pgtype.Map, oid uint32, format int16, target any) pgtype.ScanPlan {
	if _, ok := target.(*uuid.UUID); ok && format == pgtype.BinaryFormatCode {
		return uuidPlan{}
	}
	return c.UUIDCodec.PlanScan(m, oid, format, target)
}

type uuidPlan struct{}

// Encode implements pgtype.EncodePlan.
func (uuidPlan) Encode(value any, buf []byte) ([]byte, error) {
	id := value.(uuid.UUID) //nolint:errcheck // PlanEncode has looked
	return append(buf, id[:]...), nil
}

// Scan implements pgtype.ScanPlan.
func (uuidPlan) Scan(src []byte, target any) error {
	if len(src) != 16 {
		return fmt.Errorf("a uuid of %d bytes", len(src))
	}
	copy(target.(*uuid.UUID)[:], src) //nolint:errcheck // PlanScan has looked
	return nil
}

// uuidArrayCodec is pgx's, with a short cut for []uuid.UUID in binary.
type uuidArrayCodec struct{ *pgtype.ArrayCodec }

// PlanEncode implements pgtype.Codec.
func (c uuidArrayCodec) PlanEncode(m *pgtype.Map, oid uint32, format int16, value any) pgtype.EncodePlan {
	if _, ok := value.([]uuid.UUID); ok && format == pgtype.BinaryFormatCode {
		return uuidArrayPlan{}
	}
	return c.ArrayCodec.PlanEncode(m, oid, format, value)
}

type uuidArrayPlan struct{}

// Encode implements pgtype.EncodePlan: one dimension, no nulls, as PostgreSQL's array_recv reads it.
func (uuidArrayPlan) Encode(value any, buf []byte) ([]byte, error) {
	ids := value.([]uuid.UUID) //nolint:errcheck // PlanEncode has looked
	if ids == nil {
		return nil, nil
	}
	if len(ids) == 0 {
		buf = binary.BigEndian.AppendUint32(buf, 0) // dimensions
		buf = binary.BigEndian.AppendUint32(buf, 0) // nulls
		return binary.BigEndian.AppendUint32(buf, pgtype.UUIDOID), nil
	}
	for _, word := range [...]uint32{1, 0, pgtype.UUIDOID, uint32(len(ids)), 1} {
		buf = binary.BigEndian.AppendUint32(buf, word)
	}
	for i := range ids {
		buf = binary.BigEndian.AppendUint32(buf, 16)
		buf = append(buf, ids[i][:]...)
	}
	return buf, nil
}
