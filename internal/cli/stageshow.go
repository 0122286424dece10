package cli

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"axflow/api/gen"
)

func (a *app) showStage(ctx context.Context, s *session, id uuid.UUID, name string, asJSON bool) error {
	r, err := take(s.api.GetStageWithResponse(ctx, id, name))
	if err != nil {
		return a.noStage(ctx, s, id, name, err)
	}
	if asJSON {
		return a.json(r.raw)
	}
	d := r.is
	if err := stageTable([]gen.StageStatus{d.Status}, d.At).write(a.Stdout); err != nil {
		return err
	}
	if n := d.Durations; n != nil && n.Samples > 0 {
		a.say("\n%s took: half at most %s, 95 %% at most %s, 99 %% at most %s, the longest %s", plural(n.Samples, "attempt"),
			took(seconds(value(n.P50S))), took(seconds(value(n.P95S))), took(seconds(value(n.P99S))), took(seconds(value(n.MaxS))))
	}
	if len(d.Failures) == 0 {
		return nil
	}
	a.say("")
	t := table{{"DEAD", "SHARDS", "FINGERPRINT", "ERROR"}}
	for _, f := range d.Failures {
		t = append(t, []string{fmt.Sprint(f.Count), shortShards(value(f.Shards), f.Count), f.Fingerprint, oneLine(f.Example.Message)})
	}
	return t.write(a.Stdout)
}
