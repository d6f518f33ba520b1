package files

import (
	"bytes"
	"crypto/sha256"
	"testing"

	"github.com/gosluice/sluice/core/window"
)

func TestTokenRoundTrip(t *testing.T) {
	for _, want := range []token{
		{},
		{destination: "late/west", window: minute},
		{temp: newTempName("12345678"), destination: "late/west", window: window.GlobalWindow, records: 1 << 40, bytes: 1 << 50, sum: sha256.Sum256(nil)},
	} {
		got, err := decodeToken(want.encode())
		if err != nil || got != want {
			t.Errorf("%+v, %v, want %+v", got, err, want)
		}
	}
}

// A damaged token must not lead to a file that no Stage made.
func TestTokenNamesTemporaryFilesOnly(t *testing.T) {
	for _, temp := range []string{"../x", "x", "late/west.jsonl", newTempName("12345678") + "x", "../" + newTempName("12345678")} {
		if _, err := decodeToken(token{temp: temp}.encode()); err == nil {
			t.Errorf("%q was accepted", temp)
		}
	}
}

func FuzzToken(f *testing.F) {
	f.Add([]byte(token{temp: newTempName("12345678"), destination: "d", window: minute, records: 3}.encode()))
	f.Add([]byte{tokenVersion})
	f.Fuzz(func(t *testing.T, b []byte) {
		tok, err := decodeToken(b)
		if err != nil {
			return
		}
		again, err := decodeToken(tok.encode())
		if err != nil || again != tok {
			t.Fatalf("%x: %+v, then %+v, %v", b, tok, again, err)
		}
		if !bytes.HasSuffix(b, tok.sum[:]) {
			t.Fatalf("%x: checksum %x", b, tok.sum)
		}
	})
}
