package rest

import "net/http"

// rawJSON is an answer that is JSON already: what is generated for it would encode its bytes.
type rawJSON []byte

func (r rawJSON) write(w http.ResponseWriter) error {
	if len(r) == 0 {
		r = rawJSON("null")
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	_, err := w.Write(append(r[:len(r):len(r)], '\n'))
	return err
}

// VisitGetRunParamsResponse writes the answer.
func (r rawJSON) VisitGetRunParamsResponse(w http.ResponseWriter) error { return r.write(w) }

// VisitGetOutputResponse writes the answer.
func (r rawJSON) VisitGetOutputResponse(w http.ResponseWriter) error { return r.write(w) }

// VisitGetParamsSchemaResponse writes the answer.
func (r rawJSON) VisitGetParamsSchemaResponse(w http.ResponseWriter) error { return r.write(w) }

// VisitGetAdviceResponse writes the answer: the generated one would lose the encoding of durations.
func (r rawJSON) VisitGetAdviceResponse(w http.ResponseWriter) error { return r.write(w) }
