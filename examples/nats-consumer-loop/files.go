package main

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gosluice/sluice/acks"
)

// files is a directory of batch files, numbered by epoch. A file's first line is
// the ledger's mark, the rest are the messages: both become durable in one rename.
type files struct{ dir string }

func openFiles(dir string) (*files, error) { return &files{dir}, os.MkdirAll(dir, 0o755) }

func (f *files) names() ([]string, error) { return filepath.Glob(filepath.Join(f.dir, "*.batch")) }

// last returns the newest epoch and its mark; zero if there is none.
func (f *files) last() (epoch uint64, mark acks.Mark, err error) {
	names, err := f.names()
	if err != nil || len(names) == 0 {
		return 0, acks.Mark{}, err
	}
	name := names[len(names)-1] // Glob sorts
	if _, err := fmt.Sscanf(filepath.Base(name), "%d.batch", &epoch); err != nil {
		return 0, acks.Mark{}, fmt.Errorf("%s: %w", name, err)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return 0, acks.Mark{}, err
	}
	first, _, _ := bytes.Cut(data, []byte("\n"))
	encoded, err := hex.DecodeString(string(first))
	if err != nil {
		return 0, acks.Mark{}, fmt.Errorf("%s: %w", name, err)
	}
	mark, err = acks.ParseMark(encoded)
	return epoch, mark, err
}

// write makes one batch and the mark that goes with it durable.
func (f *files) write(epoch uint64, mark acks.Mark, lines [][]byte) error {
	encoded, err := mark.AppendBinary(nil)
	if err != nil {
		return err
	}
	data := append(hex.AppendEncode(nil, encoded), '\n')
	for _, l := range lines {
		data = append(append(data, l...), '\n')
	}
	name := filepath.Join(f.dir, fmt.Sprintf("%08d.batch", epoch))
	if err := writeSynced(name+".tmp", data); err != nil {
		return err
	}
	if err := os.Rename(name+".tmp", name); err != nil {
		return err
	}
	return syncDir(f.dir)
}

func writeSynced(name string, data []byte) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// syncDir makes the directory's entries durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// count returns how many different messages are on disk, and how many more than
// once.
func (f *files) count() (lines, twice int, err error) {
	names, err := f.names()
	if err != nil {
		return 0, 0, err
	}
	seen := map[string]int{}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return 0, 0, err
		}
		for _, l := range bytes.Split(bytes.TrimSpace(data), []byte("\n"))[1:] {
			if seen[string(l)]++; seen[string(l)] == 2 {
				twice++
			}
		}
	}
	return len(seen), twice, nil
}
