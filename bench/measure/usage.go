package measure

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// Usage is what a process has used of the machine.
type Usage struct {
	CPU      time.Duration // user and system, all threads, since it began
	Resident int64         // bytes in memory now
}

// UsageOf reads what another process uses. ok is false where that cannot be seen (no /proc).
func UsageOf(pid int) (u Usage, ok bool) {
	stat, ok := readStat(pid)
	if !ok {
		return Usage{}, false
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return Usage{}, false
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return Usage{}, false
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return Usage{}, false
	}
	return Usage{CPU: stat.own, Resident: pages * int64(os.Getpagesize())}, true
}
