package flow_test

import (
	"bytes"
	"reflect"
	"testing"
	"time"

	"axflow/flow"
	"axflow/shard"
	"axflow/stage"
)

// Flows that use nothing new keep the content versions that earlier releases gave them: runs that wait under these find
// their workers. The hashes are of the release before flow control.
func TestOldGraphsKeepTheirVersions(t *testing.T) {
	pull := single("pull", stage.Priority(stage.P1), stage.Queue("etl"), stage.Limit(3), stage.Requires("gpu"))
	many := shard.New("many", plan, handleShard, stage.Retry{MaxAttempts: 5}, stage.SkipWhenEmpty()).After(pull)
	each := shard.Aligned("each", many, handleShard, stage.Cost(time.Second))
	wide := flow.New("daily", pull, many, each, single("report", stage.WithRule(stage.AllDone), stage.Timeout{Overall: time.Hour}).After(each))
	for want, f := range map[string]flow.Definition{"a2438fd82e092dfa": load(""), "3ec539db33ddc8f2": wide} {
		if f.Version() != want {
			t.Errorf("flow %s has version %s, want %s", f.Name(), f.Version(), want)
		}
	}
}

// everything is a flow that uses every option of flow control.
func everything() *flow.Flow[params] {
	setup := single("setup", stage.Prefers("ssd"), stage.Route(stage.ByKey), stage.Key{From: "params.date", Limit: 2, Starts: 5},
		stage.Rate{Starts: 9}, stage.RetryWindow{Retries: 3, Per: time.Minute}, stage.Breaker{ErrorRate: 0.5}, stage.Downstream("warehouse"))
	many := shard.New("many", plan, handleShard, stage.FailFast(), stage.Tolerate(2), stage.TolerateShare(0.1),
		stage.Key{From: stage.ShardKey, Group: "customer", Limit: 1}).After(setup)
	branch := single("branch", stage.When(isNever)).After(setup)
	down := single("down", stage.Teardown(setup)).After(many, branch)
	return flow.New("everything", setup, many, branch, down)
}

func TestGraphGoesAroundWithEveryOption(t *testing.T) {
	g := everything().Graph()
	b := g.Encode()
	back, err := flow.ParseGraph(b)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(back.Encode(), b) || !reflect.DeepEqual(back.Stages, g.Stages) || back.Version() != g.Version() {
		t.Errorf("read back: %+v, want %+v", back.Stages, g.Stages)
	}
	ord, _ := g.Ord("down")
	setup, _ := g.Ord("setup")
	if d := g.Stages[ord]; d.TeardownOf == nil || *d.TeardownOf != setup || len(d.Upstreams) != 3 {
		t.Errorf("the teardown is %+v, of stage %d", d, setup)
	}
}
