package files

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gosluice/sluice/core/fault"
	"github.com/gosluice/sluice/sinks"
)

// transientAt checks an error of the disk: its class, its path, its remedy.
func transientAt(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil || fault.Of(err) != fault.Transient {
		t.Fatalf("%v, class %v, want transient", err, fault.Of(err))
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
}

// write stages and publishes until both succeed, at most tries times, as the
// framework does with transient errors.
func write(t *testing.T, w *Writer[string], tries int) (sinks.Outcome[File], []error) {
	t.Helper()
	var tok sinks.Token
	var errs []error
	for range tries {
		if tok == nil {
			staged, err := w.Stage(t.Context(), batchOf("late/west", crashLines...))
			if err != nil {
				errs = append(errs, err)
				continue
			}
			tok = staged.Token
		}
		out, err := w.Publish(t.Context(), effect, tok)
		if err == nil {
			return out, errs
		}
		errs = append(errs, err)
	}
	return sinks.Outcome[File]{}, errs
}

// TestFaultAtEveryCall lets each call to the disk fail once, before and after it
// was done, and tries again.
func TestFaultAtEveryCall(t *testing.T) {
	for call := range diskCalls(t) {
		for _, errno := range []syscall.Errno{syscall.ENOSPC, syscall.EROFS, syscall.EIO} {
			for _, after := range []bool{false, true} {
				s := newStory(t)
				w := on(linesWriter(t, "out"), s.disk, failOnce(call, after, errno))
				out, errs := write(t, w, 3)
				if len(out.Results) != 1 || len(errs) > 1 {
					t.Fatalf("call %d, %v, after %v: %+v, %v", call, errno, after, out, errs)
				}
				for _, err := range errs {
					transientAt(t, err, "out", errno.Error())
				}
				if err := s.check(); err != nil {
					t.Errorf("call %d, %v, after %v: %v", call, errno, after, err)
				}
				if temps := s.disk.temps(); len(temps) > 0 {
					t.Errorf("call %d, %v, after %v: left %v", call, errno, after, temps)
				}
			}
		}
	}
}

// TestDiskStaysBroken: from some call on everything fails, as on a full or
// read-only disk; nothing is half visible, and once it is mended work goes on.
func TestDiskStaysBroken(t *testing.T) {
	for call := range diskCalls(t) {
		s := newStory(t)
		w := linesWriter(t, "out")
		_, errs := write(t, on(w, s.disk, failFrom(call, syscall.EROFS)), 4)
		for _, err := range errs {
			transientAt(t, err, "out", "read-only")
		}
		if err := s.check(); err != nil {
			t.Errorf("call %d: %v", call, err)
		}
		on(w, s.disk, nil)
		if err := w.Recover(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if temps := s.disk.temps(); len(temps) > 0 {
			t.Errorf("call %d: left %v", call, temps)
		}
	}
}

// TestMendedDisk: a token staged before the disk broke is published after.
func TestMendedDisk(t *testing.T) {
	s := newStory(t)
	w := on(linesWriter(t, "out"), s.disk, nil)
	tok := mustStage(t, w, batchOf("late/west", crashLines...))
	on(w, s.disk, failFrom(0, syscall.ENOSPC))
	_, err := w.Publish(t.Context(), effect, tok)
	transientAt(t, err, filepath.Join("out", "late"), "free some space")
	on(w, s.disk, nil)
	mustPublish(t, w, effect, tok)
	s.done = true
	if err := s.check(); err != nil {
		t.Error(err)
	}
}

// TestFaultWhileRepeating: a repeat that cannot look at what it published before
// is tried again; it is no verdict on the file.
func TestFaultWhileRepeating(t *testing.T) {
	for _, removed := range []bool{false, true} { // whether the first call came to its end
		for call := range 8 {
			s := newStory(t)
			w := on(linesWriter(t, "out"), s.disk, nil)
			tok := mustStage(t, w, batchOf("late/west", crashLines...))
			first := newScript()
			if !removed {
				first = crashAt(5, false) // before it removes the temporary file
			}
			_, _ = on(w, s.disk, first).Publish(t.Context(), effect, tok)
			if len(s.disk.finals()) != 1 || len(s.disk.temps()) == 0 != removed {
				t.Fatalf("files %v, temporary %v", s.disk.finals(), s.disk.temps())
			}
			if _, err := on(w, s.disk, failOnce(call, false, syscall.EIO)).Publish(t.Context(), effect, tok); err != nil {
				transientAt(t, err, "out", syscall.EIO.Error())
			}
			mustPublish(t, on(w, s.disk, nil), effect, tok)
			if err := s.check(); err != nil || len(s.disk.temps()) > 0 {
				t.Errorf("call %d: %v, left %v", call, err, s.disk.temps())
			}
		}
	}
}

// TestFolderTakenAway: the destination's folder goes while its file is linked.
func TestFolderTakenAway(t *testing.T) {
	s := newStory(t)
	w := on(linesWriter(t, "out"), s.disk, nil)
	tok := mustStage(t, w, batchOf("late/west", crashLines...))
	const linkCall = 3 // mkdir, syncFolder, size, link
	_, err := on(w, s.disk, failOnce(linkCall, false, syscall.ENOENT)).Publish(t.Context(), effect, tok)
	transientAt(t, err, filepath.Join("out", "late"))
	mustPublish(t, on(w, s.disk, nil), effect, tok)
}

func TestMissingDir(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	w := linesWriter(t, dir)
	_, err := w.Stage(t.Context(), batchOf("", "a"))
	transientAt(t, err, dir, "does not exist")
	transientAt(t, w.Recover(t.Context(), nil), dir, "does not exist")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	mustPublish(t, w, effect, mustStage(t, w, batchOf("", "a")))
}

func TestDirIsAFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := linesWriter(t, dir).Stage(t.Context(), batchOf("", "a"))
	transientAt(t, err, dir, "not a directory")
}

// TestUnmountedDir: with effects pending, a folder that has lost its temporary
// folder is a disk that is not there, not data that is lost.
func TestUnmountedDir(t *testing.T) {
	dir := t.TempDir()
	w := linesWriter(t, dir)
	tok := mustStage(t, w, batchOf("", "a"))
	aside := filepath.Join(t.TempDir(), "aside")
	if err := os.Rename(filepath.Join(dir, tempDir), aside); err != nil {
		t.Fatal(err)
	}
	transientAt(t, w.Recover(t.Context(), []sinks.Token{tok}), filepath.Join(dir, tempDir), "mount its disk")
	_, err := w.Publish(t.Context(), effect, tok)
	transientAt(t, err, filepath.Join(dir, tempDir), "mount its disk")
	if err := os.Rename(aside, filepath.Join(dir, tempDir)); err != nil {
		t.Fatal(err)
	}
	mustPublish(t, w, effect, tok)
}

// TestFolderIsAFile: a file stands where a destination needs a folder.
func TestFolderIsAFile(t *testing.T) {
	dir := t.TempDir()
	w := linesWriter(t, dir)
	tok := mustStage(t, w, batchOf("late/west", "a"))
	if err := os.WriteFile(filepath.Join(dir, "late"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := w.Publish(t.Context(), effect, tok)
	transientAt(t, err, filepath.Join(dir, "late"), "out of the way")
	if err := os.Remove(filepath.Join(dir, "late")); err != nil {
		t.Fatal(err)
	}
	mustPublish(t, w, effect, tok)
}

func TestRemedyNamesEveryKnownCause(t *testing.T) {
	f := newFolder("out", "", false)
	for errno, part := range map[syscall.Errno]string{
		syscall.EROFS: "mount it writable", syscall.ENOSPC: "free some space", syscall.EDQUOT: "free some space",
		syscall.EACCES: "permission", syscall.EPERM: "hard links", syscall.EXDEV: "same filesystem",
		syscall.EFBIG: "file size limit", syscall.EMFILE: "open files", syscall.EIO: "tried again",
	} {
		err := f.fault("write", "x", &os.PathError{Op: "write", Path: "x", Err: errno})
		transientAt(t, err, "files: write out/x: ", part)
		if !errors.Is(err, errno) {
			t.Errorf("%v does not wrap %v", err, errno)
		}
	}
}
