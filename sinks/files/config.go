package files

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// Config says where files go and what is in them. Only Dir is required.
type Config[T any] struct {
	// Dir is the folder of the final files. It must exist when the pipeline runs;
	// folders below it are made as destinations ask for them. Temporary files are
	// in Dir/.sluice-tmp.
	Dir string
	// Owner names this writer among those that share Dir: by it Recover knows its
	// own leftovers from another writer's pending files. The default is the type
	// T, so two writers of one type and one Dir need two Owners, in other pipelines
	// too. It may change only while nothing is pending.
	Owner string
	// Format encodes a record. The default is [JSONLines].
	Format Format[T]
	// Name makes the final name below Dir, with "/" between folders and without
	// the suffix. It must be a pure function and give two effects two names; Stage
	// tries it with the largest numbers. The default is [DefaultName]. It may
	// change only while nothing is pending.
	//
	// Names, and destinations too, are at most 1024 bytes of printable UTF-8
	// without backslash; each part is at most 255 bytes, not empty, and does not
	// start with a dot. A batch that breaks this fails for good, before the commit.
	Name func(NameInfo) string
	// Suffix ends every final name. The default is ".jsonl".
	Suffix string
	// NoSync leaves out every fsync: for tests and throw-away runs. A killed
	// process loses nothing then, a power cut may lose published files.
	NoSync bool
}

// withDefaults returns c completed, or every problem it has.
func (c Config[T]) withDefaults() (Config[T], error) {
	var problems []error
	if c.Dir == "" {
		problems = append(problems, errors.New("no Dir is given"))
	}
	if c.Owner == "" {
		c.Owner = reflect.TypeFor[T]().String()
	}
	if c.Format == nil {
		c.Format = JSONLines[T]()
	}
	if c.Name == nil {
		c.Name = DefaultName
	}
	if c.Suffix == "" {
		c.Suffix = ".jsonl"
	}
	if err := checkPath("x" + c.Suffix); err != nil || strings.Contains(c.Suffix, "/") {
		problems = append(problems, fmt.Errorf("the Suffix %q cannot end a file name", c.Suffix))
	}
	if len(problems) > 0 {
		return c, fmt.Errorf("files: bad config: %w", errors.Join(problems...))
	}
	return c, nil
}
