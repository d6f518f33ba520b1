package files

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"

	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/window"
	"github.com/gosluice/sluice/sinks"
)

// tokenVersion is the first byte of every token.
const tokenVersion = 1

// token is what Stage knew of a file and Publish needs: a sinks.Token decoded.
type token struct {
	// temp is the name in tempDir; "" where no record was left to write, so that
	// there is no file to publish.
	temp        string
	destination string
	window      window.Window
	records     int64
	bytes       int64
	sum         [sha256.Size]byte
}

var tempName = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{32}\.part$`)

// newTempName never repeats: 128 random bits.
func newTempName(owner string) string {
	var random [16]byte
	rand.Read(random[:]) // never fails
	return owner + "-" + hex.EncodeToString(random[:]) + ".part"
}

func (t token) tempPath() string { return tempDir + "/" + t.temp }

func (t token) file(name string) File {
	return File{
		Name: name, Destination: t.destination, Window: t.window,
		Records: t.records, Bytes: t.bytes, Checksum: hex.EncodeToString(t.sum[:]),
	}
}

// encode lays out: version, temp, destination, window, records, bytes, sum.
// Strings have their length before them; numbers are varints.
func (t token) encode() sinks.Token {
	b := []byte{tokenVersion}
	for _, s := range []string{t.temp, t.destination} {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	for _, n := range []int64{int64(t.window.Start), int64(t.window.End), t.records, t.bytes} {
		b = binary.AppendVarint(b, n)
	}
	return append(b, t.sum[:]...)
}

// decodeToken accepts what encode made and nothing else.
func decodeToken(b sinks.Token) (token, error) {
	if len(b) == 0 {
		return token{}, errors.New("the token is empty")
	}
	if b[0] != tokenVersion {
		return token{}, fmt.Errorf("the token has version %d, this program knows %d", b[0], tokenVersion)
	}
	r := tokenReader{rest: b[1:]}
	t := token{temp: r.string(), destination: r.string()}
	t.window = window.Window{Start: event.Time(r.varint()), End: event.Time(r.varint())}
	t.records, t.bytes = r.varint(), r.varint()
	if r.bad || len(r.rest) != len(t.sum) || t.records < 0 || t.bytes < 0 {
		return token{}, errors.New("the token is damaged")
	}
	copy(t.sum[:], r.rest)
	if t.temp != "" && !tempName.MatchString(t.temp) {
		return token{}, fmt.Errorf("the token names %q, which is no temporary file", t.temp)
	}
	return t, nil
}

// tokenReader takes fields off a token; bad stays set once something was missing.
type tokenReader struct {
	rest []byte
	bad  bool
}

func (r *tokenReader) varint() int64 {
	v, n := binary.Varint(r.rest)
	if n <= 0 {
		r.bad = true
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

func (r *tokenReader) string() string {
	size, n := binary.Uvarint(r.rest)
	if n <= 0 || size > uint64(len(r.rest)-n) {
		r.bad = true
		return ""
	}
	s := string(r.rest[n : n+int(size)])
	r.rest = r.rest[n+int(size):]
	return s
}
