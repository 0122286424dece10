package metamorph

import (
	"context"
	"errors"
	"net"
	"sync"
)

// plug is what a process's connections go through, so that a test can pull it: cut them (the process is dead, or cut
// off) or freeze them (the process stands still, its sessions and locks stay).
type plug struct {
	mu    sync.Mutex
	conns map[*plugged]struct{}
	out   bool
	thaw  chan struct{} // closed when nothing is frozen
}

func newPlug() *plug {
	p := &plug{conns: make(map[*plugged]struct{}), thaw: make(chan struct{})}
	close(p.thaw)
	return p
}

var errPulled = errors.New("the process is cut off")

// dial is a pgconn.DialFunc.
func (p *plug) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	p.mu.Lock()
	out := p.out
	p.mu.Unlock()
	if out {
		return nil, errPulled
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	c := &plugged{Conn: conn, plug: p, closed: make(chan struct{})}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.out {
		_ = conn.Close() // nobody has it yet
		return nil, errPulled
	}
	p.conns[c] = struct{}{}
	return c, nil
}

// cut closes every connection; with stay none can be made until mend.
func (p *plug) cut(stay bool) {
	p.mu.Lock()
	p.out = p.out || stay
	conns := p.conns
	p.conns = make(map[*plugged]struct{})
	p.mu.Unlock()
	for c := range conns {
		_ = c.Close() // that is what is wanted
	}
}

func (p *plug) mend() {
	p.mu.Lock()
	p.out = false
	p.mu.Unlock()
}

// freeze keeps everything from being read or written until the returned function is called.
func (p *plug) freeze() (thaw func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	ch := make(chan struct{})
	p.thaw = ch
	return sync.OnceFunc(func() { close(ch) })
}

func (p *plug) thawed() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.thaw
}

// plugged is one connection through a plug.
type plugged struct {
	net.Conn
	plug   *plug
	once   sync.Once
	closed chan struct{}
}

func (c *plugged) wait() {
	select {
	case <-c.plug.thawed():
	case <-c.closed:
	}
}

func (c *plugged) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.wait() // what arrived meanwhile is not seen
	return n, err
}

func (c *plugged) Write(b []byte) (int, error) {
	c.wait()
	return c.Conn.Write(b)
}

func (c *plugged) Close() error {
	c.once.Do(func() { close(c.closed) })
	c.plug.mu.Lock()
	delete(c.plug.conns, c)
	c.plug.mu.Unlock()
	return c.Conn.Close()
}
