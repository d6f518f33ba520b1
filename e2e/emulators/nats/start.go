package natsemu

import (
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// TB is what Start needs of testing.TB.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
	Cleanup(f func())
	TempDir() string
}

// Start opens a server for one test, in a directory of the test, and shuts it
// down when the test ends.
func Start(t TB, opts ...Option) *Server {
	t.Helper()
	s, err := Open(t.TempDir(), opts...)
	if err != nil {
		t.Fatalf("%v", err)
	}
	t.Cleanup(s.Shutdown)
	return s
}

// Client connects for one test and closes when the test ends.
func (s *Server) Client(t TB, opts ...nats.Option) jetstream.JetStream {
	t.Helper()
	nc, err := s.Connect(opts...)
	if err != nil {
		t.Fatalf("%v", err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return js
}
