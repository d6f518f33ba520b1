package natsemu

import (
	"errors"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

var errDown = errors.New("natsemu: server is down")

// Cut breaks every connection made by Connect. The clients reconnect by themselves.
func (s *Server) Cut() {
	s.mu.Lock()
	links := make([]*link, 0, len(s.mu.links))
	for l := range s.mu.links {
		links = append(links, l)
	}
	s.mu.Unlock()
	for _, l := range links {
		_ = l.Close()
	}
}

// Freeze lets nothing through any connection made by Connect, in either
// direction, until Thaw. Nothing is lost.
func (s *Server) Freeze() {
	froze := make(chan struct{})
	s.froze.CompareAndSwap(nil, &froze)
}

// Thaw ends Freeze.
func (s *Server) Thaw() {
	if froze := s.froze.Swap(nil); froze != nil {
		close(*froze)
	}
}

// link is one connection whose bytes can be held back.
type link struct {
	net.Conn
	srv    *Server
	closed chan struct{}
	once   sync.Once
	// readBy and writeBy are deadlines in nanoseconds since 1970; zero: none.
	readBy, writeBy atomic.Int64
}

func (s *Server) track(c net.Conn) net.Conn {
	l := &link{Conn: c, srv: s, closed: make(chan struct{})}
	s.mu.Lock()
	s.mu.links[l] = struct{}{}
	s.mu.Unlock()
	return l
}

func (l *link) Read(p []byte) (int, error) {
	n, err := l.Conn.Read(p)
	if held := l.wait(&l.readBy); held != nil {
		return 0, held
	}
	return n, err
}

func (l *link) Write(p []byte) (int, error) {
	if err := l.wait(&l.writeBy); err != nil {
		return 0, err
	}
	return l.Conn.Write(p)
}

func (l *link) SetDeadline(t time.Time) error {
	note(&l.readBy, t)
	note(&l.writeBy, t)
	return l.Conn.SetDeadline(t)
}

func (l *link) SetReadDeadline(t time.Time) error {
	note(&l.readBy, t)
	return l.Conn.SetReadDeadline(t)
}

func (l *link) SetWriteDeadline(t time.Time) error {
	note(&l.writeBy, t)
	return l.Conn.SetWriteDeadline(t)
}

func note(by *atomic.Int64, t time.Time) {
	if t.IsZero() {
		by.Store(0)
	} else {
		by.Store(t.UnixNano())
	}
}

func (l *link) Close() error {
	l.once.Do(func() { close(l.closed) })
	l.srv.mu.Lock()
	delete(l.srv.mu.links, l)
	l.srv.mu.Unlock()
	return l.Conn.Close()
}

// wait blocks while the server is frozen, until the deadline as of now.
func (l *link) wait(by *atomic.Int64) error {
	froze := l.srv.froze.Load()
	if froze == nil {
		return nil
	}
	var deadline <-chan time.Time
	if at := by.Load(); at != 0 {
		timer := time.NewTimer(time.Until(time.Unix(0, at)))
		defer timer.Stop()
		deadline = timer.C
	}
	select {
	case <-*froze:
		return nil
	case <-l.closed:
		return net.ErrClosed
	case <-deadline:
		return os.ErrDeadlineExceeded
	}
}

// inProcess finds the server that runs now, so that a client survives Restart.
type inProcess struct{ s *Server }

func (p inProcess) InProcessConn() (net.Conn, error) {
	srv := p.s.Server()
	if srv == nil {
		return nil, errDown
	}
	c, err := srv.InProcessConn()
	if err != nil {
		return nil, err
	}
	return p.s.track(c), nil
}

type dialer struct{ s *Server }

func (d dialer) Dial(network, address string) (net.Conn, error) {
	c, err := net.DialTimeout(network, address, 2*time.Second)
	if err != nil {
		return nil, err
	}
	return d.s.track(c), nil
}
