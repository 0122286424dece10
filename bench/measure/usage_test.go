package measure

import (
	"os"
	"runtime"
	"testing"
)

func TestUsageOfThisProcess(t *testing.T) {
	u, ok := UsageOf(os.Getpid())
	if !ok {
		if runtime.GOOS == "linux" {
			t.Fatal("this process cannot be seen")
		}
		return
	}
	held := make([]byte, 64<<20)
	for i := range held {
		held[i] = byte(i)
	}
	v, _ := UsageOf(os.Getpid())
	if u.Resident < 1<<20 || v.Resident < u.Resident+(32<<20) || v.CPU < u.CPU {
		t.Errorf("with 64 MB more: %+v, before %+v", v, u)
	}
	runtime.KeepAlive(held)
	if u, ok := UsageOf(1 << 30); ok {
		t.Errorf("a process that there is not uses %+v", u)
	}
}
