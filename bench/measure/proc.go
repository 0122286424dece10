package measure

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// tick is Linux's USER_HZ, the unit of times in /proc/PID/stat: 100 a second on every architecture Go runs on.
const tick = time.Second / 100

// serverCPU is the CPU time of the PostgreSQL server that has the given backend: its postmaster's, its live
// children's, and that of the children that have ended (the postmaster's waited-for children). 0 when the
// backend is not a process that can be seen here.
func serverCPU(backend int) time.Duration {
	self, ok := readStat(backend)
	if !ok || !strings.HasPrefix(self.name, "postgres") {
		return 0
	}
	postmaster, ok := readStat(self.parent)
	if !ok || !strings.HasPrefix(postmaster.name, "postgres") {
		return 0
	}
	total := postmaster.own + postmaster.waited
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, d := range dirs {
		pid, err := strconv.Atoi(filepath.Base(d))
		if err != nil {
			continue
		}
		if p, ok := readStat(pid); ok && p.parent == self.parent {
			total += p.own
		}
	}
	return total
}

type procStat struct {
	name        string
	parent      int
	own, waited time.Duration
}

func readStat(pid int) (procStat, bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return procStat{}, false
	}
	return parseStat(string(text))
}

// parseStat reads proc(5)'s stat: pid (name) state ppid …, utime, stime, cutime and cstime being fields 14 to
// 17. The name may itself hold blanks and parentheses.
func parseStat(text string) (procStat, bool) {
	open, end := strings.IndexByte(text, '('), strings.LastIndexByte(text, ')')
	if open < 0 || end < open {
		return procStat{}, false
	}
	f := strings.Fields(text[end+1:])
	if len(f) < 15 {
		return procStat{}, false
	}
	var n [5]int64
	for i, at := range [5]int{1, 11, 12, 13, 14} {
		v, err := strconv.ParseInt(f[at], 10, 64)
		if err != nil {
			return procStat{}, false
		}
		n[i] = v
	}
	return procStat{
		name:   text[open+1 : end],
		parent: int(n[0]),
		own:    time.Duration(n[1]+n[2]) * tick,
		waited: time.Duration(n[3]+n[4]) * tick,
	}, true
}
