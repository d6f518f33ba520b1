package natsemu

import (
	"errors"
	"net"
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
	srv *Server
}

func (s *Server) track(c net.Conn) net.Conn {
	l := &link{Conn: c, srv: s}
	s.mu.Lock()
	s.mu.links[l] = struct{}{}
	s.mu.Unlock()
	return l
}

func (l *link) Read(p []byte) (int, error) {
	n, err := l.Conn.Read(p)
	l.wait()
	return n, err
}

func (l *link) Write(p []byte) (int, error) {
	l.wait()
	return l.Conn.Write(p)
}

func (l *link) Close() error {
	l.srv.mu.Lock()
	delete(l.srv.mu.links, l)
	l.srv.mu.Unlock()
	return l.Conn.Close()
}

// wait blocks while the server is frozen.
func (l *link) wait() {
	if froze := l.srv.froze.Load(); froze != nil {
		<-*froze
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
