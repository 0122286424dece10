package control

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"axflow/sql/db"
	"axflow/sql/pipe"
)

// MaxLabel is the greatest length in bytes of what a run is found by: tag:name=value, or param:name=value. Runs are found by longer
// tags too, but not by them alone.
const MaxLabel = 500

// TagLabel and ParamLabel are what runs with a tag, and with a value of a searchable param, are found by.
func TagLabel(name, value string) string { return "tag:" + name + "=" + value }

// ParamLabel is the same for a param that its flow declares searchable.
func ParamLabel(name, value string) string { return "param:" + name + "=" + value }

// label notes what a run is found by. Its params are not sealed yet.
func (w *writing) label(s *Start) {
	add := func(label string) {
		if len(label) <= MaxLabel {
			w.labels.RunIds = append(w.labels.RunIds, s.ID)
			w.labels.Labels = append(w.labels.Labels, label)
		}
	}
	for _, name := range slices.SortedFunc(maps.Keys(s.Tags), cmp.Compare) {
		add(TagLabel(name, s.Tags[name]))
	}
	values := s.Version.Graph.SearchValues(s.Params)
	for _, name := range slices.SortedFunc(maps.Keys(values), cmp.Compare) {
		add(ParamLabel(name, values[name]))
	}
}

// sendLabels queues the labels; runs without any cost nothing.
func (w *writing) sendLabels(ctx context.Context, p *pipe.Pipe, labels db.InsertLabelsParams) {
	if len(labels.Labels) > 0 {
		_ = p.InsertLabels(ctx, labels)
	}
}
