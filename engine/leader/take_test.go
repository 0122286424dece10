package leader_test

import (
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"axflow/internal/pgtest"
	"axflow/sql/db"
)

// lease writes the lease of epoch 7, which runs for so long from now on and was renewed at that time.
func lease(t *testing.T, pg *pgtest.DB, left time.Duration) (renewed time.Time) {
	t.Helper()
	exec(t, pg, `INSERT INTO ax.lease (name, epoch, holder, expires_at, renewed_at)
		VALUES ('main', 7, 'old', clock_timestamp() + $1::bigint * interval '1 microsecond', clock_timestamp() - interval '1 minute')`, left.Microseconds())
	return query[time.Time](t, pg, "SELECT renewed_at FROM ax.lease")
}

// take tries to take the lease as a contender that has seen epoch and, perhaps, no renewal since.
func take(t *testing.T, pg *pgtest.DB, seen int64, unrenewed *time.Time) int64 {
	t.Helper()
	epoch, err := db.New(pg.Pool).LeaseTake(t.Context(), db.LeaseTakeParams{Name: "main", Seen: seen, Unrenewed: unrenewed, Holder: "new", TtlUs: 60_000_000})
	if errors.Is(err, pgx.ErrNoRows) {
		return 0
	}
	if err != nil {
		t.Fatal(err)
	}
	return epoch
}

func TestRunningLeaseIsNotTaken(t *testing.T) {
	t.Parallel()
	pg := pgtest.New(t)
	lease(t, pg, time.Hour)
	if epoch := take(t, pg, 7, nil); epoch != 0 {
		t.Errorf("took a lease that runs for an hour, as epoch %d", epoch)
	}
	exec(t, pg, "UPDATE ax.lease SET expires_at = clock_timestamp()")
	if epoch := take(t, pg, 6, nil); epoch != 0 {
		t.Errorf("took an expired lease that is not the one seen, as epoch %d", epoch)
	}
	if epoch := take(t, pg, 7, nil); epoch != 8 {
		t.Errorf("took an expired lease of epoch 7 as epoch %d, want 8", epoch)
	}
	if epoch := take(t, pg, 7, nil); epoch != 0 {
		t.Errorf("took a lease twice, as epoch %d", epoch)
	}
}

// A contender has watched the lease go unrenewed for its whole time, and the leader renews it just before the contender
// takes it: the leader keeps it. Without that renewal the contender has it, whatever the database's clock says.
func TestRenewalBeatsTakeOver(t *testing.T) {
	t.Parallel()
	pg := pgtest.New(t)
	renewed := lease(t, pg, time.Hour)
	rows, err := db.New(pg.Pool).LeaseRenew(t.Context(), db.LeaseRenewParams{Name: "main", Epoch: 7, TtlUs: 60_000_000})
	if err != nil || rows != 1 {
		t.Fatalf("renewing: %d rows, %v", rows, err)
	}
	if epoch := take(t, pg, 7, &renewed); epoch != 0 {
		t.Errorf("took a lease that was renewed meanwhile, as epoch %d", epoch)
	}
	again := query[time.Time](t, pg, "SELECT renewed_at FROM ax.lease")
	if epoch := take(t, pg, 7, &again); epoch != 8 {
		t.Errorf("took an unrenewed lease of epoch 7 as epoch %d, want 8", epoch)
	}
}

// A renewal that was delayed on its way must not bring back a lease that has expired or was resigned, nor one that
// another holds.
func TestExpiredLeaseStaysExpired(t *testing.T) {
	t.Parallel()
	pg := pgtest.New(t)
	lease(t, pg, -time.Second)
	q := db.New(pg.Pool)
	renew := func(epoch int64) int64 {
		rows, err := q.LeaseRenew(t.Context(), db.LeaseRenewParams{Name: "main", Epoch: epoch, TtlUs: 60_000_000})
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
	if rows := renew(7); rows != 0 {
		t.Errorf("a renewal revived an expired lease")
	}
	if epoch := take(t, pg, 7, nil); epoch != 8 {
		t.Fatalf("took epoch %d, want 8", epoch)
	}
	if rows := renew(7); rows != 0 {
		t.Errorf("epoch 7 renewed the lease of epoch 8")
	}
	if _, err := q.LeaseResign(t.Context(), db.LeaseResignParams{Name: "main", Epoch: 7}); err != nil {
		t.Fatal(err)
	}
	if rows := renew(8); rows != 1 {
		t.Errorf("epoch 8 could not renew its lease after epoch 7 had resigned it")
	}
	if _, err := q.LeaseResign(t.Context(), db.LeaseResignParams{Name: "main", Epoch: 8}); err != nil {
		t.Fatal(err)
	}
	if rows := renew(8); rows != 0 {
		t.Errorf("a renewal undid a resignation")
	}
}

// A take-over waits for what the old term is writing, and its own time is later than that.
func TestNewTermBeginsAfterTheOldOnesWrites(t *testing.T) {
	t.Parallel()
	pg := pgtest.New(t)
	lease(t, pg, -time.Second)
	tx, err := pg.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := db.New(tx).Fence(t.Context(), db.FenceParams{Name: "main", Epoch: 7}); err != nil {
		t.Fatal(err)
	}
	taken := make(chan int64, 1)
	go func() { taken <- take(t, pg, 7, nil) }()
	eventually(t, "the take-over waits", func() bool {
		return len(taken) > 0 || query[int](t, pg, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'") == 1
	})
	var wrote time.Time
	if err := tx.QueryRow(t.Context(), "SELECT clock_timestamp()").Scan(&wrote); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if epoch := within(t, taken, "the take-over"); epoch != 8 {
		t.Fatalf("took epoch %d, want 8", epoch)
	}
	if began := query[time.Time](t, pg, "SELECT acquired_at FROM ax.lease_term WHERE epoch = 8"); !began.After(wrote) {
		t.Errorf("epoch 8 began at %v, epoch 7 still wrote at %v", began, wrote)
	}
}
