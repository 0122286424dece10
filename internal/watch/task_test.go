package watch

import (
	"strings"
	"testing"
	"time"

	"axflow/stage"
)

// What tasks tell of themselves stands below their stages, as far as there is room.
func TestTasksTellOfThemselves(t *testing.T) {
	p := progress(20*time.Second, stage.RunRunning, single("download"), sharded("load", 100, 40, 0, 8), ended(single("done"), stage.StageSucceeded, time.Second))
	p.Tasks = []Task{
		{Stage: "download", StartedAt: began, Done: 1_200, Total: 3_000, Detail: "page 4"},
		{Stage: "load", Shard: 17, StartedAt: began.Add(5 * time.Second), Done: 0.5, Detail: "reading\x1b[31m"},
		{Stage: "load", Shard: 3, StartedAt: began.Add(6 * time.Second), Done: 7, Total: 10},
		{Stage: "load", Shard: 4, StartedAt: began.Add(7 * time.Second), Detail: "waiting for the source"},
		{Stage: "load", Shard: 5, StartedAt: began.Add(8 * time.Second), Detail: "a fourth is not shown"},
		{Stage: "done", StartedAt: began, Detail: "an old word"},
	}
	v := views(p)
	golden(t, "tasks", strings.Join(style{}.frame(&v, 80, 24), "\n")+"\n")
	if lines := (style{}).frame(&v, 80, 6); len(lines) != 6 {
		t.Errorf("%d lines where there are 6:\n%s", len(lines), strings.Join(lines, "\n"))
	}
	var said plain
	said.lines(&v)
	v.elapsed += time.Minute
	if text := strings.Join(said.lines(&v), "\n"); !strings.Contains(text, "download: running, 40% 1,200/3,000 page 4") {
		t.Errorf("in lines it is\n%s", text)
	}
}
