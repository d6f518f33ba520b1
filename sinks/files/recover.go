package files

import (
	"errors"
	"io/fs"
	"strings"
)

// recover removes this owner's temporary files, those in keep excepted.
func (f *folder) recover(keep map[string]bool) error {
	d, err := f.enter()
	if err != nil {
		return err
	}
	defer d.close()
	names, err := d.list(tempDir)
	if errors.Is(err, fs.ErrNotExist) && len(keep) == 0 {
		return nil // the first run
	}
	if err != nil {
		return f.fault("look for pending files in", tempDir, err)
	}
	for _, name := range names {
		if keep[name] || !tempName.MatchString(name) || !strings.HasPrefix(name, f.owner) {
			continue
		}
		if err := f.removeTemp(d, tempDir+"/"+name); err != nil {
			return err
		}
	}
	return nil
}

func (f *folder) discard(t token) error {
	d, err := f.enter()
	if err != nil {
		return err
	}
	defer d.close()
	return f.removeTemp(d, t.tempPath())
}
