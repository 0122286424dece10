package worker

import (
	"log/slog"
	"time"
)

// Defaults of LogConfig.
const (
	DefaultLinesPerSecond       = 100
	DefaultLogBurst             = 1000
	DefaultWorkerLinesPerSecond = 5000
	DefaultLogLines             = 10_000
	DefaultLogBytes             = 4 << 20
	DefaultLogFlush             = 250 * time.Millisecond
	DefaultLogBatch             = 500
)

// Limits of one stored line, in bytes. What is longer is cut, and says so.
const (
	MaxLogMessage    = 8 << 10
	MaxLogAttributes = 16 << 10 // of JSON
)

// LogConfig says what becomes of what handlers log with stage.Log. The zero value stores lines of level info and above.
type LogConfig struct {
	// Off stores nothing.
	Off bool
	// Level is the least level that is stored. Default slog.LevelInfo.
	Level slog.Level
	// Quiet keeps handlers' lines out of the worker's own Logger.
	Quiet bool
	// OwnLevel is the least level that the worker's own Logger gets, if it takes that itself. Default slog.LevelInfo.
	OwnLevel slog.Level
	// LinesPerSecond and Burst bound what one execution of a task stores; what is more is dropped and counted. Lines of warn and
	// above have an allowance of their own, twice as large, so that no noise hides an error. Default 100 and 1,000.
	LinesPerSecond, Burst int
	// WorkerLinesPerSecond bounds what all tasks of the worker store together, with twice as much as a burst; lines of warn and
	// above again have twice that of their own. Default 5,000.
	WorkerLinesPerSecond int
	// Lines and Bytes bound what waits in memory to be stored. The last quarter of both is kept for lines of warn and above.
	// Default 10,000 lines and 4 MiB.
	Lines, Bytes int
	// Flush is how long a line may wait for others to be stored with. Default 250 ms.
	Flush time.Duration
	// Batch is the greatest number of lines in one insert. Default 500.
	Batch int
}

func (c *LogConfig) fill(fault func(string, ...any)) {
	for _, n := range []struct {
		name  string
		value *int
		whole int // default
	}{
		{"LinesPerSecond", &c.LinesPerSecond, DefaultLinesPerSecond},
		{"Burst", &c.Burst, DefaultLogBurst},
		{"WorkerLinesPerSecond", &c.WorkerLinesPerSecond, DefaultWorkerLinesPerSecond},
		{"Lines", &c.Lines, DefaultLogLines},
		{"Bytes", &c.Bytes, DefaultLogBytes},
		{"Batch", &c.Batch, DefaultLogBatch},
	} {
		if *n.value < 0 {
			fault("Logs.%s is %d: give a positive number, or 0 for the default of %d", n.name, *n.value, n.whole)
		}
		if *n.value <= 0 {
			*n.value = n.whole
		}
	}
	if c.Flush < 0 {
		fault("Logs.Flush is %v: give a positive time, or 0 for the default of %v", c.Flush, DefaultLogFlush)
	}
	if c.Flush <= 0 {
		c.Flush = DefaultLogFlush
	}
}

// allowance is a bucket of tokens: rate a second, at most burst at once. Its user guards it.
type allowance struct {
	rate, burst, left float64
	at                time.Duration // of the last look
}

func newAllowance(perSecond, burst int, now time.Duration) allowance {
	return allowance{rate: float64(perSecond) / float64(time.Second), burst: float64(burst), left: float64(burst), at: now}
}

// take takes a token, if there is one.
func (a *allowance) take(now time.Duration) bool {
	if now > a.at {
		a.left = min(a.burst, a.left+a.rate*float64(now-a.at))
		a.at = now
	}
	if a.left < 1 {
		return false
	}
	a.left--
	return true
}

// allowances are those of quiet lines and of lines of warn and above.
type allowances struct{ quiet, loud allowance }

func newAllowances(perSecond, burst int, now time.Duration) allowances {
	return allowances{newAllowance(perSecond, burst, now), newAllowance(2*perSecond, 2*burst, now)}
}

func (a *allowances) take(level slog.Level, now time.Duration) bool {
	if level >= slog.LevelWarn {
		return a.loud.take(now)
	}
	return a.quiet.take(now)
}
