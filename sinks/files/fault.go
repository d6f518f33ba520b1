package files

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/gosluice/sluice/core/fault"
)

// fault classifies an error of the disk: Transient, with the path as the user
// knows it and what can be done about it. The framework retries, so the work
// goes on by itself once the cause is gone.
func (f *folder) fault(op, name string, err error) error {
	return fault.Errorf(fault.Transient, "files: %s %s: %w (%s)", op, f.path(name), cause(err), remedy(err))
}

// cause strips the system's own words for operation and path.
func cause(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}

// remedies by error number; the first that matches is told.
var remedies = []struct {
	errs []error
	text string
}{
	{[]error{syscall.EROFS}, "the filesystem is read-only: mount it writable"},
	{[]error{syscall.ENOSPC, syscall.EDQUOT}, "the disk or quota is full: free some space"},
	{[]error{syscall.EACCES, syscall.EPERM}, "give this process write permission there; the filesystem must allow hard links"},
	{[]error{syscall.ENOTDIR}, "a part of the path is a file: move it out of the way"},
	{[]error{syscall.EXDEV}, tempDir + " must be on the same filesystem as the folder around it"},
	{[]error{syscall.ENOTSUP, syscall.EOPNOTSUPP}, "the filesystem must allow hard links and syncing of folders"},
	{[]error{syscall.EFBIG}, "raise the file size limit, or make batches smaller"},
	{[]error{syscall.EMFILE, syscall.ENFILE}, "raise the limit of open files"},
	{[]error{fs.ErrNotExist}, "the folder does not exist: create it, or mount its disk"},
}

func remedy(err error) string {
	for _, r := range remedies {
		for _, e := range r.errs {
			if errors.Is(err, e) {
				return r.text
			}
		}
	}
	return "it is tried again"
}
