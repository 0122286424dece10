package faults

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"axflow/internal/pgtest"
)

// process is a process that this test has started. Only such are ever signalled.
type process struct {
	t    *testing.T
	name string
	cmd  *exec.Cmd
	log  logbook
	done chan struct{} // closed when it has ended
}

// spawn starts a process. It ends with the test at the latest; if the test fails, what it logged is shown.
func spawn(t *testing.T, r role) *process {
	t.Helper()
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, name: r.Name, cmd: exec.Command(os.Args[0]), done: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), envRole+"="+string(text))
	p.cmd.Stdout, p.cmd.Stderr = &p.log, &p.log
	// A group of its own: should the tests be killed, the kernel wakes and hangs up a stopped one.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdin, err := p.cmd.StdinPipe() // its end tells the process that the tests are gone
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.done)
		_ = p.cmd.Wait() // ProcessState says it
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.done
		_ = stdin.Close()
		if t.Failed() || os.Getenv("AX_FAULT_LOGS") != "" {
			t.Logf("process %s (%s) said:\n%s", p.name, p.cmd.ProcessState, p.log.tail(200))
		}
		if bytes.Contains(p.log.bytes(), []byte("DATA RACE")) {
			t.Errorf("process %s has a data race:\n%s", p.name, p.log.bytes())
		}
	})
	return p
}

func (p *process) pid() int { return p.cmd.Process.Pid }

func (p *process) signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatalf("sending %v to process %s: %v", s, p.name, err)
	}
}

// kill kills the process and waits until it is gone.
func (p *process) kill() {
	p.t.Helper()
	p.signal(syscall.SIGKILL)
	pgtest.Eventually(p.t, patience, func() (bool, string) { return p.ended(), "process " + p.name + " was killed and lives" })
}

// stop stops the process and waits until the kernel has.
func (p *process) stop() {
	p.t.Helper()
	p.signal(syscall.SIGSTOP)
	pgtest.Eventually(p.t, patience, func() (bool, string) {
		stopped, err := isStopped(p.pid())
		if err != nil {
			p.t.Fatal(err)
		}
		return stopped, "process " + p.name + " does not stop"
	})
}

// cont lets a stopped process go on.
func (p *process) cont() {
	p.t.Helper()
	p.signal(syscall.SIGCONT)
}

// terminate asks the process to end in good order, as a deployment does.
func (p *process) terminate() {
	p.t.Helper()
	p.signal(syscall.SIGTERM)
}

// leaves waits for the end that terminate asked for, and fails the test unless it is a success.
func (p *process) leaves() {
	p.t.Helper()
	pgtest.Eventually(p.t, patience, func() (bool, string) { return p.ended(), "process " + p.name + " does not end" })
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		p.t.Errorf("process %s ended with %s, want exit code 0", p.name, p.cmd.ProcessState)
	}
}

func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// lateRenewal is why a term ends whose leader's machine stood still for too long.
const lateRenewal = "the lease is lost: not renewed in time"

// leftTerm waits until an engine has said why its term of an epoch has ended, and returns that.
func (p *process) leftTerm(epoch int64) (cause string) {
	p.t.Helper()
	said := regexp.MustCompile(fmt.Sprintf(`msg="no longer leading".* epoch=%d cause="([^"]*)"`, epoch))
	pgtest.Eventually(p.t, patience, func() (bool, string) {
		found := said.FindSubmatch(p.log.bytes())
		if found == nil {
			return false, fmt.Sprintf("process %s has not said why its term of epoch %d has ended", p.name, epoch)
		}
		cause = string(found[1])
		return true, ""
	})
	return cause
}

// isStopped asks the kernel for a process's state, where there is no /proc through ps.
func isStopped(pid int) (bool, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err == nil {
		_, state, _ := strings.Cut(string(stat), ") ") // the name before it may hold anything else
		return strings.HasPrefix(state, "T"), nil
	}
	out, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return false, fmt.Errorf("asking ps for process %d: %w", pid, err)
	}
	return strings.HasPrefix(strings.TrimSpace(string(out)), "T"), nil
}

// logbook is what a process has written.
type logbook struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logbook) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(b)
}

func (l *logbook) bytes() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return bytes.Clone(l.buf.Bytes())
}

func (l *logbook) tail(lines int) []byte {
	all := bytes.SplitAfter(l.bytes(), []byte("\n"))
	return bytes.Join(all[max(0, len(all)-lines):], nil)
}

// patience is how long a test waits for what must come: far longer than it takes on a loaded machine.
const patience = 90 * time.Second
