// Package control holds the verbs that start and steer runs, for the library, the API and the command line
// alike. Each is one transaction that locks the run first; each says afterwards what the engine should look at.
package control

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"axflow/flow"
	"axflow/shard"
	"axflow/sql/db"
	"axflow/sql/hint"
	"axflow/sql/payload"
	"axflow/sql/pipe"
	"axflow/sql/span"
	"axflow/sql/versions"
	"axflow/stage"
)

// The limits of a start.
const (
	MaxParams     = 256 << 10 // bytes of a run's params
	MaxBatch      = 10_000    // runs in one call
	MaxBatchRows  = 1_000_000 // stages of all runs in one call
	MaxKey        = 200       // bytes of an idempotency key
	MaxTags       = 50        // of a run
	MaxTagName    = 100       // bytes
	MaxTagValue   = 200       // bytes
	DefaultKeyTTL = 7 * 24 * time.Hour
)

// Start is one run to start.
type Start struct {
	Version *versions.Version
	Params  []byte            // JSON; nil is {}
	Key     string            // idempotency key: the same key of the same flow again returns the same run; "": none
	Level   *stage.Level      // nil: stage.P2
	Queue   string            // "": "default"
	Tags    map[string]string // for searching
	ID      uuid.UUID         // minted by the caller from database time
}

// Batch is what the starts of one call share.
type Batch struct {
	Namespace string
	Trigger   string        // what started them: "api", "cli", "schedule", ...
	Delay     time.Duration // nothing is handed out before
	At        time.Time     // nothing is handed out before, and Delay does not count; zero: Delay counts
	KeyTTL    time.Duration // how long keys bind; default DefaultKeyTTL
	// Who has the starts audited in their transaction, one line a run that did not exist before, and its DryRun makes them a question:
	// all that a start would find out, and nothing started. nil: they leave no line in the audit.
	Who   *Who
	Codec payload.Codec // seals the params; nil: they are stored as they are. A Client sets its own
}

// Started is a run that exists now.
type Started struct {
	Run      uuid.UUID
	Existing bool // an earlier start with the same key made it
}

// Tx is what a start is written on: a connection or a pool (then it is one transaction of its own), or the
// caller's transaction.
type Tx interface {
	pipe.Sender
	db.DBTX
}

// StartRuns writes runs with their stages and the spans of their roots, all or none. It returns one Started for
// each start, in order, and the hint to publish once the transaction has committed. Starts with keys make two
// round trips and must be inside a transaction; without keys it is one. A queue that has no room refuses the whole batch
// with CodeOverloaded; nothing is written then, and the transaction goes on.
func StartRuns(ctx context.Context, tx Tx, b Batch, starts []Start) ([]Started, hint.Engine, error) {
	if err := check(starts); err != nil {
		return nil, hint.Engine{}, err
	}
	started := make([]Started, len(starts))
	owners, err := claim(ctx, tx, b, starts)
	if err != nil {
		return nil, hint.Engine{}, err
	}
	w := writing{batch: b}
	for i := range starts {
		s := &starts[i]
		run := s.ID
		if s.Key != "" {
			run = owners[[2]string{s.Version.Flow, s.Key}]
		}
		started[i] = Started{Run: run, Existing: run != s.ID}
		if run == s.ID {
			if err := w.add(ctx, s); err != nil {
				return nil, hint.Engine{}, err
			}
		}
	}
	if len(w.runs.RunIds)+len(w.over.RunIds) == 0 {
		return started, hint.Engine{}, nil
	}
	refused, err := w.send(ctx, tx)
	if err != nil {
		return nil, hint.Engine{}, fmt.Errorf("starting %d runs: %w", len(starts), err)
	}
	if len(refused) > 0 {
		if err := release(ctx, tx, b, starts, owners); err != nil {
			return nil, hint.Engine{}, err
		}
		return nil, hint.Engine{}, overloaded(refused)
	}
	return started, w.news, nil
}

// check refuses what could not be stored, naming the start if there are several.
func check(starts []Start) error {
	if len(starts) > MaxBatch {
		return &Error{Code: CodeTooLarge, Text: fmt.Sprintf("%d runs in one call; the limit is %d: split the batch", len(starts), MaxBatch)}
	}
	rows := 0
	for i := range starts {
		s := &starts[i]
		if s.Params == nil {
			s.Params = []byte("{}")
		}
		rows += len(s.Version.Graph.Stages)
		if err := s.check(); err != nil {
			if len(starts) > 1 {
				err.Text = fmt.Sprintf("start %d: %s", i, err.Text)
			}
			return err
		}
	}
	if rows > MaxBatchRows {
		return &Error{Code: CodeTooLarge, Text: fmt.Sprintf("%d stages in one call; the limit is %d: split the batch", rows, MaxBatchRows)}
	}
	return nil
}

// claim binds the keys of a batch; a key that stands in it twice is one run.
func claim(ctx context.Context, tx Tx, b Batch, starts []Start) (map[[2]string]uuid.UUID, error) {
	ttl := b.KeyTTL
	if ttl == 0 {
		ttl = DefaultKeyTTL
	}
	p := db.ClaimRunKeysParams{Namespace: b.Namespace, TtlS: ttl.Seconds()}
	seen := make(map[[2]string]bool)
	for _, s := range starts {
		k := [2]string{s.Version.Flow, s.Key}
		if s.Key == "" || seen[k] {
			continue
		}
		seen[k] = true
		p.Flows = append(p.Flows, s.Version.Flow)
		p.Keys = append(p.Keys, s.Key)
		p.RunIds = append(p.RunIds, s.ID)
	}
	if len(p.Keys) == 0 {
		return nil, nil
	}
	rows, err := db.New(tx).ClaimRunKeys(ctx, p)
	if err != nil {
		return nil, fmt.Errorf("claiming %d idempotency keys: %w", len(p.Keys), err)
	}
	owners := make(map[[2]string]uuid.UUID, len(rows))
	for _, r := range rows {
		owners[[2]string{r.Flow, r.Key}] = r.RunID
	}
	return owners, nil
}

// writing collects the rows of a batch.
type writing struct {
	batch  Batch
	runs   db.InsertRunsParams
	over   db.InsertRunsParams // runs that are over as they start: every stage is skipped
	stages db.InsertStagesParams
	ready  db.InsertReadyParams
	expiry db.InsertExpiriesParams
	labels db.InsertLabelsParams
	wants  wants
	births map[int32]*birth
	news   hint.Engine
}

// birth is what every run of a version looks like when it starts.
type birth struct {
	states  []stage.StageState
	reasons []string
	state   stage.RunState
}

func (w *writing) add(ctx context.Context, s *Start) error {
	b := w.births[s.Version.ID]
	if b == nil {
		b = newBirth(s.Version.Graph)
		if w.births == nil {
			w.births = make(map[int32]*birth)
		}
		w.births[s.Version.ID] = b
	}
	level, queue := stage.P2, "default"
	if s.Level != nil {
		level = *s.Level
	}
	if s.Queue != "" {
		queue = s.Queue
	}
	tags := ""
	if len(s.Tags) > 0 {
		text, err := json.Marshal(s.Tags)
		if err != nil {
			return fmt.Errorf("encoding tags: %w", err)
		}
		tags = string(text)
	}
	runs := &w.runs
	if b.state.Ended() {
		runs = &w.over
		runs.State = int16(b.state)
	} else {
		w.wants.run(queue, level)
	}
	runs.RunIds = append(runs.RunIds, s.ID)
	runs.VersionIds = append(runs.VersionIds, s.Version.ID)
	runs.Levels = append(runs.Levels, int16(level))
	runs.Flows = append(runs.Flows, s.Version.Flow)
	runs.Queues = append(runs.Queues, queue)
	sealed, err := payload.Seal(ctx, w.batch.Codec, payload.Place{Kind: payload.Params, Namespace: w.batch.Namespace, Run: s.ID}, s.Params)
	if err != nil {
		return err
	}
	runs.Params = append(runs.Params, sealed)
	runs.Tags = append(runs.Tags, tags)
	w.label(s)
	late := s.Version.Graph.Late
	if late > 0 && w.batch.At.IsZero() {
		late += max(0, w.batch.Delay)
	}
	runs.LatesS = append(runs.LatesS, late.Seconds())
	keys := s.Version.Graph.KeysOf(s.Params)
	for ord, state := range b.states {
		key := ""
		if keys != nil {
			key = keys[ord]
		}
		w.addStage(s, ord, state, b.reasons[ord], level, queue, key)
	}
	return nil
}

func (w *writing) addStage(s *Start, ord int, state stage.StageState, reason string, level stage.Level, queue, key string) {
	st := &w.stages
	st.RunIds = append(st.RunIds, s.ID)
	st.Ords = append(st.Ords, int16(ord))
	st.States = append(st.States, int16(state))
	st.Reasons = append(st.Reasons, reason)
	st.Keys = append(st.Keys, key)
	total, kind, todo := int32(-1), span.Shards, shard.Span(0, 1)
	switch state {
	case stage.StageRunning:
		total = 1
	case stage.StagePlanning:
		kind, todo, key = span.Plan, shard.Span(span.PlanIndex, 0), "" // a plan counts against no key
	default:
		st.Totals = append(st.Totals, total)
		return
	}
	st.Totals = append(st.Totals, total)
	spec := &s.Version.Graph.Stages[ord]
	if spec.Level != nil {
		level = *spec.Level
	}
	if spec.Queue != "" {
		queue = spec.Queue
	}
	id := uuid.Must(uuid.NewV7())
	r := &w.ready
	r.Ids = append(r.Ids, id)
	r.RunIds = append(r.RunIds, s.ID)
	r.VersionIds = append(r.VersionIds, s.Version.ID)
	r.Ords = append(r.Ords, int16(ord))
	r.Kinds = append(r.Kinds, int16(kind))
	r.Levels = append(r.Levels, int16(level))
	r.Queues = append(r.Queues, queue)
	r.Keys = append(r.Keys, key)
	r.Todos = append(r.Todos, todo.String())
	w.wants.task(queue, level)
	delay := spec.Delay
	if w.batch.At.IsZero() {
		delay += w.batch.Delay
	}
	r.DelaysS = append(r.DelaysS, delay.Seconds())
	if overall := spec.Timeout.Overall; overall > 0 {
		e := &w.expiry
		e.RunIds = append(e.RunIds, s.ID)
		e.Ords = append(e.Ords, int16(ord))
		e.DelaysS = append(e.DelaysS, (delay + overall).Seconds())
	}
	if delay > 0 || !w.batch.At.IsZero() {
		w.news.IDs = append(w.news.IDs, id) // when it is due, only the database knows
		return
	}
	w.news.Ready = append(w.news.Ready, span.Ready{Set: todo, Header: span.Header{ID: id, Run: s.ID, VersionID: s.Version.ID,
		Ord: int16(ord), Generation: 1, Kind: kind, Attempt: 1, Delivery: 1, Level: level, Namespace: w.batch.Namespace, Queue: queue, Key: key}})
}

// send writes everything in one round trip; outside a transaction that is one of its own. Queues that refuse are returned,
// and then nothing is written.
func (w *writing) send(ctx context.Context, tx Tx) (refused []db.InsertRunsRow, err error) {
	p := pipe.New()
	var first uuid.UUID
	w.runs.State = int16(stage.RunRunning)
	for i, runs := range []*db.InsertRunsParams{&w.runs, &w.over} {
		if len(runs.RunIds) == 0 {
			continue
		}
		runs.Namespace, runs.Trigger, runs.Ended, runs.At = w.batch.Namespace, w.batch.Trigger, i == 1, w.at()
		if first == uuid.Nil {
			first = runs.RunIds[0]
			runs.WantQueues, runs.WantLevels, runs.Wants = w.wants.columns()
		} else {
			runs.First = &first
		}
		_, _ = p.InsertRuns(ctx, *runs)
		if i == 0 {
			pipe.Rows(p, &refused)
		}
	}
	if len(w.over.RunIds) > 0 {
		_, _ = p.TellRuns(ctx, db.TellRunsParams{RunIds: w.over.RunIds})
	}
	w.stages.First = first
	_ = p.InsertStages(ctx, w.stages)
	if len(w.labels.Labels) > 0 {
		w.labels.Namespace, w.labels.First = w.batch.Namespace, first
		_ = p.InsertLabels(ctx, w.labels)
	}
	if len(w.ready.Ids) > 0 {
		w.ready.Namespace, w.ready.First, w.ready.At = w.batch.Namespace, first, w.at()
		_ = p.InsertReady(ctx, w.ready)
	}
	if len(w.expiry.Ords) > 0 {
		w.expiry.First, w.expiry.At = first, w.at()
		_ = p.InsertExpiries(ctx, w.expiry)
	}
	return refused, p.Send(ctx, tx)
}

// newBirth lets flow.Resolve say what can be decided before anything has run.
func newBirth(g *flow.Graph) *birth {
	b := &birth{states: make([]stage.StageState, len(g.Stages)), reasons: make([]string, len(g.Stages)), state: stage.RunRunning}
	status := func(ord int) (flow.Status, bool) { return flow.Status{State: b.states[ord]}, true }
	for _, d := range flow.Resolve(g, status, nil) {
		b.states[d.Ord], b.reasons[d.Ord] = StateOf(d.Act), d.Reason
	}
	if state, over := flow.Outcome(g, status); over {
		b.state = state
	}
	return b
}

// StateOf is the state that a decision puts a waiting stage into.
func StateOf(act flow.Act) stage.StageState {
	switch act {
	case flow.Plan:
		return stage.StagePlanning
	case flow.Skip:
		return stage.StageSkipped
	case flow.FailUpstream:
		return stage.StageUpstreamFailed
	case flow.Succeed:
		return stage.StageSucceeded
	case flow.Cancel:
		return stage.StageCancelled
	default: // Release, Align
		return stage.StageRunning
	}
}
