package flow

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"axflow/stage"
)

// format is the version of the JSON form of a graph.
const format = 1

// stored is the JSON form of a graph.
type stored struct {
	Format int `json:"format"`
	*Graph
}

// Encode returns the graph as canonical JSON, which ParseGraph reads: equal graphs give equal bytes. It
// returns nil for a graph that New and ParseGraph would not have let through.
func (g *Graph) Encode() []byte {
	b, err := json.Marshal(stored{format, g})
	if err != nil {
		return nil
	}
	return b
}

// Version returns the content version: the first 16 hexadecimal digits of the SHA-256 of the graph's
// canonical JSON without its owner and description, which change nothing of what a run does.
func (g *Graph) Version() string {
	bare := g.clone()
	bare.Owner, bare.Description = "", ""
	bare.ParamsSchema = canonical(bare.ParamsSchema)
	return hash(bare.Encode())
}

// contractOf returns the hash over all that a worker's code must agree on to run the stage.
func contractOf(schema json.RawMessage, d *stage.Def) string {
	output, err := reflectSchema(d.OutputType)
	if err != nil || bytes.Equal(output, opaque) {
		output = []byte(d.OutputType.String())
	}
	return hash(canonical(schema), []byte(d.Kind.String()), canonical(output))
}

// hash returns the first 16 hexadecimal digits of the SHA-256 of parts, each parted from the next.
func hash(parts ...[]byte) string {
	sum := sha256.Sum256(bytes.Join(parts, []byte{0}))
	return hex.EncodeToString(sum[:8])
}

// canonical returns a schema with its objects' keys and its lists of required fields sorted, so that moving a
// field within its Go type makes no difference. What is not JSON is returned as it is.
func canonical(schema []byte) []byte {
	d := json.NewDecoder(bytes.NewReader(schema))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return schema
	}
	b, err := json.Marshal(sortRequired(v))
	if err != nil {
		return schema
	}
	return b
}

func sortRequired(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			if list, ok := value.([]any); ok && key == "required" {
				slices.SortFunc(list, func(a, b any) int { return bytes.Compare(fmt.Append(nil, a), fmt.Append(nil, b)) })
			}
			sortRequired(value)
		}
	case []any:
		for _, value := range v {
			sortRequired(value)
		}
	}
	return v
}

// ParseGraph reads what Graph.Encode wrote and checks it. What is wrong is returned as a *Faults.
func ParseGraph(b []byte) (*Graph, error) {
	g := new(Graph)
	s := stored{Graph: g}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields() // a policy that this program does not know must not be passed over
	if err := d.Decode(&s); err != nil {
		return nil, &Faults{List: []error{fmt.Errorf("reading its graph: %w", err)}}
	}
	faults := &Faults{Flow: g.Flow}
	if s.Format != format {
		faults.addf("its graph has format %d, this program reads %d: use the version that wrote it", s.Format, format)
		return nil, faults
	}
	g.check(faults)
	if faults.List != nil {
		return nil, faults
	}
	return g, nil
}

func (g *Graph) check(faults *Faults) {
	faults.add(stage.CheckName("flow", g.Flow))
	faults.add(checkText("owner", g.Owner, MaxOwnerLen))
	faults.add(checkText("description", g.Description, MaxDescriptionLen))
	faults.add(g.checkLate())
	if n := len(g.Stages); n < 1 || n > MaxStages {
		faults.addf("it has %d stages, 1 to %d are allowed", n, MaxStages)
	}
	if _, err := readRules(g.ParamsSchema); err != nil {
		faults.addf("its params schema: %w", err)
	}
	faults.List = append(faults.List, g.checkSearchable()...)
	named := make(map[string]bool, len(g.Stages))
	for ord := range g.Stages {
		s := &g.Stages[ord]
		if named[s.Name] {
			faults.addf("two stages have the name %q", clip(s.Name))
		}
		named[s.Name] = true
		for _, err := range g.checkStage(ord) {
			faults.addf("stage %d, %q: %w", ord, clip(s.Name), err)
		}
	}
}

func (g *Graph) checkStage(ord int) []error {
	s := &g.Stages[ord]
	var faults Faults
	faults.add(stage.CheckName("stage", s.Name))
	for i, u := range s.Upstreams {
		switch {
		case u < 0 || u >= ord:
			faults.addf("its upstream %d is not among the %d stages before it", u, ord)
		case i > 0 && u <= s.Upstreams[i-1]:
			faults.addf("its upstreams %v are not ascending", s.Upstreams)
		}
	}
	switch aligned := s.AlignedTo != -1; {
	case aligned != (s.Kind == stage.Aligned):
		faults.addf("it is %v and aligned to %d", s.Kind, s.AlignedTo)
	case aligned && !slices.Contains(s.Upstreams, s.AlignedTo):
		faults.addf("it is aligned to %d, which is not one of its upstreams %v", s.AlignedTo, s.Upstreams)
	case aligned && s.AlignedTo >= 0 && s.AlignedTo < ord && g.Stages[s.AlignedTo].Kind == stage.Single:
		faults.addf("it is aligned to %d, which has no shards", s.AlignedTo)
	}
	if !s.Rule.Valid() {
		faults.addf("trigger rule %q is unknown", s.Rule)
	}
	faults.List = append(append(faults.List, s.Retry.Check()...), s.Timeout.Check()...)
	if s.Level != nil && !s.Level.Valid() {
		faults.addf("level %d is unknown", *s.Level)
	}
	if s.Queue != "" {
		faults.add(stage.CheckName("queue", s.Queue))
	}
	if s.Limit < 0 || s.Cost < 0 || s.Delay < 0 {
		faults.addf("its limit is %d, its cost %v and its delay %v: none may be negative", s.Limit, s.Cost, s.Delay)
	}
	for _, l := range s.Requires {
		faults.add(stage.CheckLabel(l))
	}
	for _, l := range s.Prefers {
		faults.add(stage.CheckLabel(l))
	}
	if s.Routing != "" && !s.Routing.Valid() {
		faults.addf("routing %q is unknown", s.Routing)
	}
	if s.Key != nil {
		faults.List = append(faults.List, s.Key.Check(s.Kind)...)
	}
	if s.Rate != nil {
		faults.List = append(faults.List, s.Rate.Check()...)
	}
	if s.RetryWindow != nil {
		faults.List = append(faults.List, s.RetryWindow.Check()...)
	}
	if s.Breaker != nil {
		faults.List = append(faults.List, s.Breaker.Check()...)
	}
	for _, name := range s.Downstreams {
		faults.add(stage.CheckName("downstream", name))
	}
	if s.Tolerate < 0 || !(s.TolerateShare >= 0 && s.TolerateShare <= 1) {
		faults.addf("it tolerates %d failed shards and a share of %v: use 0 or more, and 0 to 1", s.Tolerate, s.TolerateShare)
	}
	if s.Kind == stage.Single && (s.FailFast || s.Tolerate > 0 || s.TolerateShare > 0) {
		faults.addf("it is single and has a failure tolerance of shards")
	}
	switch t := s.TeardownOf; {
	case t == nil:
	case !slices.Contains(s.Upstreams, *t):
		faults.addf("it takes down %d, which is not one of its upstreams %v", *t, s.Upstreams)
	case s.Kind == stage.Aligned:
		faults.addf("it is aligned and takes down %d", *t)
	}
	if s.Conditional && s.Kind == stage.Aligned {
		faults.addf("it is aligned and has a condition")
	}
	if s.Child != "" {
		faults.add(stage.CheckName("flow", s.Child))
	}
	if s.Contract == "" {
		faults.addf("it has no contract")
	}
	return faults.List
}
