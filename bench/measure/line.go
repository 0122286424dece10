package measure

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
)

// PrintLine writes the fields as one line of JSON, in the order of their names: the last line of every bench
// program. Values are rounded by Round; a value that is not a number (nothing was measured) becomes null.
func PrintLine(w io.Writer, fields map[string]float64) error {
	out := make(map[string]any, len(fields))
	for k, v := range fields {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			out[k] = nil
			continue
		}
		out[k] = Round(v)
	}
	text, err := json.Marshal(out)
	if err != nil {
		return fmt.Errorf("encoding the result line: %w", err)
	}
	if _, err := w.Write(append(text, '\n')); err != nil {
		return fmt.Errorf("writing the result line: %w", err)
	}
	return nil
}

// LastLine reads the numbers of the last line of a bench program's output. Fields that are no numbers are left
// out.
func LastLine(output []byte) (map[string]float64, error) {
	output = bytes.TrimSpace(output)
	line := output[bytes.LastIndexByte(output, '\n')+1:]
	var all map[string]any
	if err := json.Unmarshal(line, &all); err != nil {
		return nil, fmt.Errorf("reading the result line %.200q: %w", line, err)
	}
	numbers := make(map[string]float64, len(all))
	for k, v := range all {
		if n, ok := v.(float64); ok {
			numbers[k] = n
		}
	}
	return numbers, nil
}
