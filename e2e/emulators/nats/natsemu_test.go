package natsemu_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/goleak"

	natsemu "github.com/gosluice/sluice/e2e/emulators/nats"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// kinds are the ways to reach a server.
var kinds = map[string][]natsemu.Option{
	"in process": nil,
	"tcp":        {natsemu.TCP()},
	"synced":     {natsemu.TCP(), natsemu.SyncAlways()},
}

// publish tries until a message is stored: at least one is then.
func publish(t *testing.T, js jetstream.JetStream) {
	t.Helper()
	var err error
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		_, err = js.Publish(ctx, "orders.a", []byte("x"))
		cancel()
		if err == nil {
			return
		}
	}
	t.Fatal(err)
}

func messages(t *testing.T, js jetstream.JetStream) uint64 {
	t.Helper()
	s, err := js.Stream(t.Context(), "ORDERS")
	if err != nil {
		t.Fatal(err)
	}
	return s.CachedInfo().State.Msgs
}

func TestRestartKeepsData(t *testing.T) {
	for name, opts := range kinds {
		t.Run(name, func(t *testing.T) {
			s := natsemu.Start(t, opts...)
			js := s.Client(t)
			if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "ORDERS", Subjects: []string{"orders.>"}}); err != nil {
				t.Fatal(err)
			}
			publish(t, js)
			url := s.URL()
			for range 2 {
				if err := s.Restart(); err != nil {
					t.Fatal(err)
				}
				publish(t, js)
			}
			s.Cut()
			publish(t, js)
			if n := messages(t, js); n < 4 || s.URL() != url {
				t.Errorf("%d messages at %q, it was %q", n, s.URL(), url)
			}
			if (url == "") != (opts == nil) {
				t.Errorf("url %q", url)
			}
		})
	}
}

func TestOpenAgainOnTheSameDirectory(t *testing.T) {
	dir := t.TempDir()
	for i := range 2 {
		s, err := natsemu.Open(dir, natsemu.TCP())
		if err != nil {
			t.Fatal(err)
		}
		js := s.Client(t)
		if _, err := js.CreateOrUpdateStream(t.Context(), jetstream.StreamConfig{Name: "ORDERS", Subjects: []string{"orders.>"}}); err != nil {
			t.Fatal(err)
		}
		publish(t, js)
		if n := messages(t, js); n != uint64(i+1) {
			t.Errorf("run %d: %d messages", i, n)
		}
		js.Conn().Close()
		s.Shutdown()
		s.Shutdown()
	}
}

func TestFreeze(t *testing.T) {
	for name, opts := range kinds {
		t.Run(name, func(t *testing.T) {
			s := natsemu.Start(t, opts...)
			nc := s.Client(t).Conn()
			s.Freeze()
			s.Freeze()
			flushed := make(chan error, 1)
			go func() { flushed <- nc.FlushTimeout(10 * time.Second) }()
			select {
			case err := <-flushed:
				t.Errorf("frozen, and flushed: %v", err)
			case <-time.After(50 * time.Millisecond):
			}
			s.Thaw()
			s.Thaw()
			if err := <-flushed; err != nil {
				t.Errorf("thawed: %v", err)
			}
		})
	}
}

// A frozen connection honours its write deadline, and can be closed.
func TestFrozenConnectionEnds(t *testing.T) {
	s := natsemu.Start(t)
	broken := make(chan struct{}, 4)
	nc := s.Client(t, nats.FlusherTimeout(30*time.Millisecond), nats.ReconnectOnFlusherError(),
		nats.DisconnectErrHandler(func(*nats.Conn, error) { broken <- struct{}{} })).Conn()
	s.Freeze()
	if err := nc.Publish("x", nil); err != nil {
		t.Fatal(err)
	}
	select {
	case <-broken:
	case <-time.After(10 * time.Second):
		t.Error("the write deadline passed unnoticed")
	}
	nc.Close()
}

func TestMaxPayload(t *testing.T) {
	s := natsemu.Start(t, natsemu.MaxPayload(100))
	if err := s.Client(t).Conn().Publish("x", make([]byte, 101)); !errors.Is(err, nats.ErrMaxPayload) {
		t.Error(err)
	}
}

func TestOpenFailuresSayWhere(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err := natsemu.Open(file); err == nil {
		s.Shutdown()
		t.Error("opened on a file")
	}
	s := natsemu.Start(t, natsemu.TCP())
	if err := s.Restart(); err != nil {
		t.Fatal(err)
	}
	s.Shutdown()
	if _, err := s.Connect(nats.RetryOnFailedConnect(false)); err == nil {
		t.Error("connected to nothing")
	}
	if s.Server() != nil {
		t.Error("a server after shutdown")
	}
}
