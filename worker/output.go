package worker

import (
	"encoding/json"
	"unicode/utf8"

	"axflow/stage"
)

// checkOutput tells what is wrong with an output, so that it cannot poison a batch.
func (w *Worker) checkOutput(f *flight, output []byte) error {
	if output == nil {
		return nil
	}
	limit, what := w.cfg.MaxShardOutput, "a shard's output"
	wayOut := "return less from each shard, cut the work into more shards, or write it to a table or a file and return where it is"
	if f.h.origin < 0 {
		limit, what = w.cfg.MaxStageOutput, "a stage's output"
		wayOut = "write it to a table or a file and return where it is"
	}
	if len(output) > limit {
		return stage.Permanent(faultf(CodeOutputLimit, "%s may be %d bytes of JSON, this one has %d: %s", what, limit, len(output), wayOut))
	}
	if !utf8.Valid(output) {
		return stage.Permanent(faultf(CodeOutputInvalid, "the output is not UTF-8: encode binary data, for example as []byte, which JSON writes in base64"))
	}
	if !json.Valid(output) {
		return stage.Permanent(faultf(CodeOutputInvalid, "the output is not JSON: return what encoding/json can encode"))
	}
	return nil
}
