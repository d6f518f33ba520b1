package files

import "github.com/gosluice/sluice/core/window"

// File is one published file. When a File is handed out, the file is final:
// visible under Name to every process, complete and durable.
type File struct {
	// Name is the path below Config.Dir, with "/" between folders.
	Name        string
	Destination string
	Window      window.Window
	// Records and Bytes are what is in it.
	Records, Bytes int64
	// Checksum is the SHA-256 of the content, in hex as sha256sum prints it.
	Checksum string
}
