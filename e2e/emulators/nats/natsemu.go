// Package natsemu runs a real NATS server with JetStream inside this process, for
// tests and for programs that bring their own queue.
//
// Its main noun is [Server]: [Open] starts one on a directory, [Server.Connect]
// gives a client connection to it, [Server.Shutdown] ends it; what was stored
// stays in the directory. Tests call [Start], which cleans up after itself.
//
// Faults: [Server.Restart] (data kept), [Server.Cut] (all connections of
// Connect break and come back), [Server.Freeze] (they stay open and pass nothing
// on, as when the network loses every packet).
//
// The package imports no testing package, so that a program may link it.
//
// Goroutines: those of the embedded server, started by Open and Restart, ended
// when Shutdown returns; and one that runs it, ended with it.
package natsemu

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// readyMax is how long Open waits for the server; a stream that was not closed
// cleanly is checked by then.
const readyMax = 30 * time.Second

// Server is an embedded server. Safe for concurrent use.
type Server struct {
	dir string
	cfg config

	mu struct {
		sync.Mutex
		srv   *server.Server // nil while shut down
		port  int            // chosen by the first start, kept by Restart
		links map[*link]struct{}
	}
	// froze is closed by Thaw; nil while not frozen.
	froze atomic.Pointer[chan struct{}]
}

// Open starts a server that keeps its streams in dir.
func Open(dir string, opts ...Option) (*Server, error) {
	s := &Server{dir: dir, cfg: config{port: server.RANDOM_PORT}}
	for _, o := range opts {
		o(&s.cfg)
	}
	s.mu.port = s.cfg.port
	s.mu.links = map[*link]struct{}{}
	if err := s.start(); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Server) start() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.srv != nil {
		return errors.New("natsemu: already running")
	}
	srv, err := server.NewServer(&server.Options{
		ServerName: "sluice", JetStream: true, StoreDir: s.dir,
		Host: "127.0.0.1", Port: s.mu.port, DontListen: !s.cfg.tcp,
		SyncAlways: s.cfg.syncAlways, MaxPayload: s.cfg.maxPayload,
		NoSigs: true, NoLog: true,
	})
	if err != nil {
		return fmt.Errorf("natsemu: open %s: %w", s.dir, err)
	}
	go srv.Start()
	if !srv.ReadyForConnections(readyMax) {
		srv.Shutdown()
		return fmt.Errorf("natsemu: open %s: not ready after %v", s.dir, readyMax)
	}
	if !srv.JetStreamEnabled() {
		srv.Shutdown()
		srv.WaitForShutdown()
		return fmt.Errorf("natsemu: open %s: JetStream did not start (directory not writable?)", s.dir)
	}
	if s.cfg.tcp {
		s.mu.port = srv.Addr().(*net.TCPAddr).Port
	}
	s.mu.srv = srv
	return nil
}

// URL is where clients of other processes connect: nats://127.0.0.1:port, or ""
// without the option [TCP].
func (s *Server) URL() string {
	if !s.cfg.tcp {
		return ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return fmt.Sprintf("nats://127.0.0.1:%d", s.mu.port)
}

// Connect returns a connection of its own, which the caller closes: over
// loopback with the option TCP, else in process. Unless opts say otherwise it
// reconnects for ever.
func (s *Server) Connect(opts ...nats.Option) (*nats.Conn, error) {
	all := []nats.Option{nats.MaxReconnects(-1), nats.ReconnectWait(20 * time.Millisecond)}
	if s.cfg.tcp {
		all = append(all, nats.SetCustomDialer(dialer{s}))
	} else {
		all = append(all, nats.InProcessServer(inProcess{s}))
	}
	nc, err := nats.Connect(s.URL(), append(all, opts...)...)
	if err != nil {
		return nil, fmt.Errorf("natsemu: connect: %w", err)
	}
	return nc, nil
}

// Server is the embedded server, nil while shut down.
func (s *Server) Server() *server.Server {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mu.srv
}

// Shutdown ends the server and waits for it. Idempotent; Restart may follow.
func (s *Server) Shutdown() {
	s.Thaw()
	s.mu.Lock()
	srv := s.mu.srv
	s.mu.srv = nil
	s.mu.Unlock()
	if srv != nil {
		srv.Shutdown()
		srv.WaitForShutdown()
	}
}

// Restart shuts down, if it runs, and starts again on the same directory and port.
func (s *Server) Restart() error {
	s.Shutdown()
	return s.start()
}
