package control

import (
	"maps"
	"slices"
)

// MaxLabel is the greatest length in bytes of what a run is found by: tag:name=value, or param:name=value. Runs are found by longer
// tags too, but not by them alone.
const MaxLabel = 500

// TagLabel is what a run with a tag is found by.
func TagLabel(name, value string) string { return "tag:" + name + "=" + value }

// ParamLabel is what a run with a value of a param that its flow declares searchable is found by.
func ParamLabel(name, value string) string { return "param:" + name + "=" + value }

// label notes what a run is found by. Its params are not sealed yet.
func (w *writing) label(s *Start) {
	add := func(label string) {
		if len(label) <= MaxLabel {
			w.labels.RunIds = append(w.labels.RunIds, s.ID)
			w.labels.Labels = append(w.labels.Labels, label)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Tags)) {
		add(TagLabel(name, s.Tags[name]))
	}
	values := s.Version.Graph.SearchValues(s.Params)
	for _, name := range slices.Sorted(maps.Keys(values)) {
		add(ParamLabel(name, values[name]))
	}
}
