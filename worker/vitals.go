package worker

import (
	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/mem"
)

// vitals reads how busy the machine is. Both readings are of counters that the system keeps; neither waits.
type vitals struct{ busy, all float64 }

func newVitals() *vitals {
	v := new(vitals)
	v.read()
	return v
}

// read returns the shares, 0 to 1, of CPU time used since the last call and of memory in use. What cannot be read
// is 0.
func (v *vitals) read() (cpuShare, memShare float32) {
	if times, err := cpu.Times(false); err == nil && len(times) == 1 {
		t := times[0]
		idle := t.Idle + t.Iowait
		all := t.User + t.System + t.Nice + t.Irq + t.Softirq + t.Steal + idle
		busy := all - idle
		if all > v.all {
			cpuShare = float32(min(max((busy-v.busy)/(all-v.all), 0), 1))
		}
		v.busy, v.all = busy, all
	}
	if m, err := mem.VirtualMemory(); err == nil {
		memShare = float32(m.UsedPercent / 100)
	}
	return cpuShare, memShare
}
