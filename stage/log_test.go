package stage_test

import (
	"bytes"
	"log/slog"
	"math"
	"strings"
	"testing"

	"axflow/stage"
)

// heard is an Env that remembers what a handler says.
type heard struct {
	memory
	log         *slog.Logger
	done, total float64
	detail      string
}

func (h *heard) Logger() *slog.Logger         { return h.log }
func (h *heard) Progress(done, total float64) { h.done, h.total = done, total }
func (h *heard) Detail(text string)           { h.detail = text }

func TestHandlersReachTheirEnv(t *testing.T) {
	var buf bytes.Buffer
	h := &heard{log: slog.New(slog.NewTextHandler(&buf, nil))}
	ctx := stage.WithEnv(t.Context(), h)
	stage.Log(ctx).Info("hello")
	if !strings.Contains(buf.String(), "hello") {
		t.Errorf("the Env's logger has %q", buf.String())
	}
	type rows int32
	stage.Progress(ctx, rows(3), 10)
	stage.Detail(ctx, "page 3")
	if h.done != 3 || h.total != 10 || h.detail != "page 3" {
		t.Errorf("the Env was told %v of %v, %q", h.done, h.total, h.detail)
	}
	stage.Progress(ctx, math.Inf(-1), math.NaN())
	if h.done != 0 || h.total != 0 {
		t.Errorf("of no number the Env was told %v of %v, want 0", h.done, h.total)
	}
}

func TestOutsideAHandlerLogsAreTheDefault(t *testing.T) {
	if stage.Log(t.Context()) != slog.Default() || stage.Log(stage.WithEnv(t.Context(), memory{})) != slog.Default() {
		t.Error("it is not slog.Default")
	}
	stage.Progress(t.Context(), 1, 2)
	stage.Detail(t.Context(), "nobody hears")
}
