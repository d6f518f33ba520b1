package files

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"
)

// tempDir holds the temporary files, below Config.Dir: on the same filesystem, so
// that they can be linked to their final names.
const tempDir = ".sluice-tmp"

const (
	pathBytesMax = 1024
	partBytesMax = 255
)

// checkPath says why p cannot be a name below Config.Dir. The rules keep a name
// inside Dir, out of tempDir, and readable in a listing on every system.
func checkPath(p string) error {
	if len(p) > pathBytesMax {
		return fmt.Errorf("it is longer than %d bytes", pathBytesMax)
	}
	if err := checkRunes(p); err != nil {
		return err
	}
	for part := range strings.SplitSeq(p, "/") {
		switch {
		case part == "":
			return errors.New("a part between slashes is empty")
		case part[0] == '.': // "..", ".", tempDir, and what globs skip
			return fmt.Errorf("the part %q starts with a dot", part)
		case len(part) > partBytesMax:
			return fmt.Errorf("a part is longer than %d bytes", partBytesMax)
		}
	}
	if !filepath.IsLocal(filepath.FromSlash(p)) {
		return errors.New("this system does not take it as a name inside a folder")
	}
	return nil
}

func checkRunes(p string) error {
	if !utf8.ValidString(p) {
		return errors.New("it is not valid UTF-8")
	}
	for _, r := range p {
		if r == '\\' || !unicode.IsPrint(r) {
			return fmt.Errorf("it contains %+q", r)
		}
	}
	return nil
}
