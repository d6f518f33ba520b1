//go:build e2e

package e2e

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"cloud.google.com/go/pubsub/v2/pstest"

	"github.com/gosluice/sluice/sinks"
)

// watcher looks at the files at the moment a notification about them arrives.
type watcher struct {
	dir string
	mu  sync.Mutex
	// byID, files and problems are guarded by mu.
	byID     map[string]string
	files    map[string]bool
	minutes  map[string]int
	problems []string
}

func newWatcher(dir string) *watcher {
	return &watcher{dir: dir, byID: map[string]string{}, files: map[string]bool{}, minutes: map[string]int{}}
}

// reactor hooks the watcher into the emulator's Publish.
func (w *watcher) reactor() pstest.ServerReactorOption {
	return pstest.ServerReactorOption{FuncName: "Publish", Reactor: w}
}

// React sees each request before the emulator handles it.
func (w *watcher) React(request any) (handled bool, ret any, err error) {
	if r, ok := request.(*pubsubpb.PublishRequest); ok {
		for _, m := range r.Messages {
			w.message(m)
		}
	}
	return false, nil, nil
}

func (w *watcher) message(m *pubsubpb.PubsubMessage) {
	w.mu.Lock()
	defer w.mu.Unlock()
	id := m.Attributes[sinks.AttributeID]
	content := fmt.Sprint(m.Attributes, string(m.Data))
	switch first, repeated := w.byID[id]; {
	case id == "":
		w.problem("a notification without %s: %s", sinks.AttributeID, content)
	case repeated && first != content:
		w.problem("notification %s repeats with other content:\n%s\n%s", id, first, content)
	case !repeated:
		w.byID[id] = content
		w.first(m)
	}
}

// first checks what a notification says when it is first seen.
func (w *watcher) first(m *pubsubpb.PubsubMessage) {
	switch m.Attributes["kind"] {
	case "file":
		name := m.Attributes["name"]
		if w.files[name] {
			w.problem("two notifications with different ids about %s", name)
		}
		w.files[name] = true
		w.file(name, m.Data)
	case "minute":
		w.minutes[m.Attributes["start"]]++
	default:
		w.problem("unknown kind of notification: %v", m.Attributes)
	}
}

// file checks that the file is visible and complete.
func (w *watcher) file(name string, data []byte) {
	var said struct {
		Bytes    int64
		Checksum string
	}
	if err := json.Unmarshal(data, &said); err != nil {
		w.problem("notification about %s: %v", name, err)
		return
	}
	content, err := os.ReadFile(filepath.Join(w.dir, name))
	if err != nil {
		w.problem("notified before the file was visible: %v", err)
		return
	}
	sum := sha256.Sum256(content)
	if int64(len(content)) != said.Bytes || hex.EncodeToString(sum[:]) != said.Checksum {
		w.problem("notified of %s with %d bytes, it has %d", name, said.Bytes, len(content))
	}
}

func (w *watcher) problem(format string, args ...any) {
	w.problems = append(w.problems, fmt.Sprintf(format, args...))
}

// check reports what was wrong and finds a notification for every final file.
func (w *watcher) check(t *testing.T) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.problems {
		t.Error(p)
	}
	final := 0
	for _, pattern := range []string{"*.jsonl", "late/*.jsonl"} {
		names, err := filepath.Glob(filepath.Join(w.dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range names {
			final++
			name, _ := filepath.Rel(w.dir, path)
			if !w.files[name] {
				t.Errorf("no notification about %s", name)
			}
		}
	}
	if final == 0 || len(w.minutes) == 0 {
		t.Errorf("%d files, %d minutes notified", final, len(w.minutes))
	}
	t.Logf("%d files, notifications about %d files and %d minutes", final, len(w.files), len(w.minutes))
}
