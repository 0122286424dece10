package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"axflow/sql/db"
	"axflow/sql/payload"
	"axflow/stage"
)

// Body is what is posted.
type Body struct {
	Type      string    `json:"type"`      // run.succeeded, run.failed, run.cancelled, run.late, or ping
	Timestamp time.Time `json:"timestamp"` // when it happened; the same in each attempt
	Data      Data      `json:"data"`
}

// Data is the run as it was when it happened; of a ping there is the namespace alone. Params and outputs are never in it.
type Data struct {
	Namespace  string            `json:"namespace"`
	Run        *uuid.UUID        `json:"run,omitempty"`
	Flow       string            `json:"flow,omitempty"`
	Version    string            `json:"version,omitempty"`
	State      string            `json:"state,omitempty"` // running, succeeded, failed, cancelled, cancelling
	Level      string            `json:"level,omitempty"` // P0 to P5
	Queue      string            `json:"queue,omitempty"`
	Tags       map[string]string `json:"tags,omitempty"`
	CreatedAt  *time.Time        `json:"created_at,omitempty"`
	FinishedAt *time.Time        `json:"finished_at,omitempty"`
	LateAt     *time.Time        `json:"late_at,omitempty"` // when it is late, if its flow says so
	Late       bool              `json:"late,omitempty"`    // it is
	URL        string            `json:"url,omitempty"`     // of its page
}

// stored is a delivery's data column.
type stored struct {
	Flow       string            `json:"flow"`
	Version    string            `json:"version"`
	State      int16             `json:"state"`
	Level      int16             `json:"level"`
	Queue      string            `json:"queue"`
	Tags       map[string]string `json:"tags"`
	CreatedAt  *time.Time        `json:"created_at"`
	FinishedAt *time.Time        `json:"finished_at"`
	Deadline   *time.Time        `json:"deadline"`
	Late       *bool             `json:"late"`
}

// body is what a delivery posts.
func (l *Loop) body(row db.ClaimDeliveriesRow) ([]byte, error) {
	b := Body{Type: row.Event, Timestamp: row.CreatedAt.UTC(), Data: Data{Namespace: row.Namespace, Run: row.RunID}}
	if row.RunID != nil {
		var s stored
		if err := json.Unmarshal(row.Data, &s); err != nil {
			return nil, fmt.Errorf("reading the delivery: %w", err)
		}
		d := &b.Data
		d.Flow, d.Version, d.Queue, d.Tags = s.Flow, s.Version, s.Queue, s.Tags
		d.State, d.Level = stage.RunState(s.State).String(), stage.Level(s.Level).String()
		d.CreatedAt, d.FinishedAt, d.LateAt = s.CreatedAt, s.FinishedAt, s.Deadline
		d.Late = s.Late != nil && *s.Late
		if l.cfg.RunURL != "" {
			d.URL = l.cfg.RunURL + row.RunID.String()
		}
	}
	return json.Marshal(b)
}

// send makes the request.
func (l *Loop) send(ctx context.Context, row db.ClaimDeliveriesRow) outcome {
	secret, err := payload.Open(ctx, l.cfg.Codec, payload.Place{Kind: payload.Secret, Namespace: row.Namespace, Run: row.WebhookID}, row.Secret)
	if err != nil {
		return outcome{err: errNoSecret}
	}
	if err := l.cfg.Rules.Check(row.Url); err != nil { // the rules may have changed
		return outcome{err: err}
	}
	body, err := l.body(row)
	if err != nil {
		return outcome{err: err}
	}
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, row.Url, bytes.NewReader(body))
	if err != nil {
		return outcome{err: plain(err)}
	}
	signer, err := standardwebhooks.NewWebhook(string(secret))
	if err != nil {
		return outcome{err: errors.New("its secret cannot be read: make the webhook anew")}
	}
	now := l.cfg.Now()
	signature, err := signer.Sign(row.ID.String(), now, body)
	if err != nil {
		return outcome{err: fmt.Errorf("signing it: %w", err)}
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", l.cfg.UserAgent)
	r.Header.Set(standardwebhooks.HeaderWebhookID, row.ID.String())
	r.Header.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(now.Unix(), 10))
	r.Header.Set(standardwebhooks.HeaderWebhookSignature, signature)
	answer, err := l.clients[r.URL.Scheme].Do(r)
	if err != nil {
		return outcome{err: plain(err)}
	}
	defer func() { _ = answer.Body.Close() }()
	// What it says does not matter, but read it: then the connection can be used again.
	_, _ = io.CopyN(io.Discard, answer.Body, maxAnswer)
	return judge(answer, now)
}

// judge tells what an answer means.
func judge(answer *http.Response, now time.Time) outcome {
	out := outcome{status: answer.StatusCode}
	switch {
	case out.status >= 200 && out.status < 300:
		return out
	case out.status >= 300 && out.status < 400:
		out.err = fmt.Errorf("the receiver redirects (status %d), which is not followed: give the webhook the URL that it leads to", out.status)
	case out.status == http.StatusGone:
		out.err = errors.New("the receiver says that it is gone (status 410)")
	default:
		out.err = fmt.Errorf("the receiver answered with status %d", out.status)
	}
	out.retryAfter = retryAfter(answer.Header.Get("Retry-After"), now)
	return out
}

// retryAfter reads the header: seconds or a date; 0 for what is neither.
func retryAfter(text string, now time.Time) time.Duration {
	if s, err := strconv.ParseInt(text, 10, 32); err == nil {
		return time.Duration(max(0, s)) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// plain is why a request got no answer, for who has made the webhook.
func plain(err error) error {
	if errors.Is(err, errNotAllowed) {
		return errNotAllowed
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		if dns.IsNotFound {
			return errors.New("the host's name leads nowhere")
		}
		return errors.New("the host's name could not be resolved")
	}
	if t, ok := errors.AsType[net.Error](err); ok && t.Timeout() || errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("no answer within %v", Timeout)
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	text := strings.ToValidUTF8(strings.ReplaceAll(err.Error(), "\x00", ""), "\uFFFD")
	if len(text) > 300 {
		text = strings.ToValidUTF8(text[:300], "") + "…"
	}
	return errors.New(text)
}
