// Package client is the API's Go client: what is generated from the document, with a credential, errors as Go values, and a way to
// call a server in the same process.
package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"axflow/api/gen"
)

// Config says where the server is and who asks.
type Config struct {
	// URL is the server's, such as https://ax.example.com. Required.
	URL string
	// Token is sent with every request; "": none.
	Token string
	// HTTP does the requests. Default http.DefaultClient. Its Timeout must be 0 or the event stream ends with it.
	HTTP *http.Client
	// UserAgent is sent with every request. Default "ax-client".
	UserAgent string
}

// New makes a client.
func New(cfg Config) (*gen.ClientWithResponses, error) {
	if cfg.URL == "" {
		return nil, errors.New("client: URL is required, such as https://ax.example.com")
	}
	if cfg.HTTP == nil {
		cfg.HTTP = http.DefaultClient
	}
	if cfg.UserAgent == "" {
		cfg.UserAgent = "ax-client"
	}
	return gen.NewClientWithResponses(strings.TrimSuffix(cfg.URL, "/"), gen.WithHTTPClient(cfg.HTTP),
		gen.WithRequestEditorFn(func(_ context.Context, req *http.Request) error {
			req.Header.Set("User-Agent", cfg.UserAgent)
			if cfg.Token != "" {
				req.Header.Set("Authorization", "Bearer "+cfg.Token)
			}
			return nil
		}))
}

// Error is a problem that the server answered with.
type Error struct {
	gen.Problem
}

func (e *Error) Error() string {
	var b strings.Builder
	if e.Detail != nil {
		b.WriteString(*e.Detail)
	} else {
		b.WriteString(e.Title)
	}
	for _, f := range e.Errors {
		if e.Detail == nil || !strings.Contains(*e.Detail, f.Detail) {
			fmt.Fprintf(&b, "; %s: %s", f.Field, f.Detail)
		}
	}
	return b.String()
}

// Check returns nil for an answer of 2xx and the problem that it holds for others.
func Check(res *http.Response, body []byte) error {
	if res.StatusCode/100 == 2 {
		return nil
	}
	e := &Error{}
	if err := json.Unmarshal(body, &e.Problem); err != nil || e.Code == "" {
		return fmt.Errorf("the server answered %s: %.200s", res.Status, body)
	}
	return e
}

// Local calls a server in this process: each request is served by h, without a network. What h writes is read
// while it is written, so that streams work.
func Local(h http.Handler) http.RoundTripper { return local{h} }

type local struct{ h http.Handler }

// RoundTrip serves the request in a goroutine that ends with the handler; closing the body or ending the context ends it.
func (l local) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(req.Context())
	r, w := io.Pipe()
	lw := &writer{header: make(http.Header), pipe: w, began: make(chan struct{})}
	in := req.Clone(ctx)
	in.RequestURI = req.URL.RequestURI()
	in.RemoteAddr = "127.0.0.1:0"
	in.Host = req.URL.Host
	if in.Body == nil {
		in.Body = http.NoBody
	}
	go func() {
		defer cancel()
		l.h.ServeHTTP(lw, in)
		lw.begin(http.StatusOK)
		_ = w.Close()
	}()
	select {
	case <-lw.began:
	case <-req.Context().Done():
		cancel()
		_ = r.CloseWithError(req.Context().Err())
		return nil, req.Context().Err()
	}
	return &http.Response{Status: fmt.Sprintf("%d %s", lw.status, http.StatusText(lw.status)), StatusCode: lw.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: lw.sent, Body: body{r, cancel}, ContentLength: -1, Request: req}, nil
}

// writer is the handler's side of an answer.
type writer struct {
	header, sent http.Header
	pipe         *io.PipeWriter
	status       int
	began        chan struct{}
}

func (w *writer) Header() http.Header { return w.header }

func (w *writer) WriteHeader(status int) { w.begin(status) }

func (w *writer) Write(b []byte) (int, error) {
	w.begin(http.StatusOK)
	return w.pipe.Write(b)
}

// Flush does nothing: what is written has been read by then.
func (w *writer) Flush() { w.begin(http.StatusOK) }

func (w *writer) begin(status int) {
	if w.status != 0 {
		return
	}
	w.status, w.sent = status, w.header.Clone()
	close(w.began)
}

type body struct {
	*io.PipeReader
	cancel context.CancelFunc
}

func (b body) Close() error {
	b.cancel()
	return b.PipeReader.Close()
}
