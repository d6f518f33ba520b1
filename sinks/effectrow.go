package sinks

import (
	"encoding/binary"

	"github.com/gosluice/sluice/core/coder"
	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/store"
)

// effectRow is what the store keeps of a pending effect, under a key of epoch and
// batch number.
type effectRow struct {
	group     store.Group // where the row lies
	epoch     uint64
	batch     uint32
	prefix    []byte
	low, high event.Time
	records   int
	token     Token
	// failed records were not staged: ordinal and reason.
	failed []failedOrdinal
}

type failedOrdinal struct {
	ordinal uint32
	reason  string
}

func (r *effectRow) key() []byte {
	k := binary.BigEndian.AppendUint64(nil, r.epoch)
	return binary.BigEndian.AppendUint32(k, r.batch)
}

func (r *effectRow) encode() []byte {
	b := coder.AppendSized(nil, r.prefix)
	b = binary.BigEndian.AppendUint64(b, uint64(r.low))
	b = binary.BigEndian.AppendUint64(b, uint64(r.high))
	b = binary.AppendUvarint(b, uint64(r.records))
	b = coder.AppendSized(b, r.token)
	for _, f := range r.failed {
		b = binary.AppendUvarint(b, uint64(f.ordinal))
		b = coder.AppendSized(b, []byte(f.reason))
	}
	return b
}

func decodeEffect(key, b []byte) (*effectRow, error) {
	if len(key) != 12 {
		return nil, coder.ErrMalformed
	}
	r := &effectRow{epoch: binary.BigEndian.Uint64(key), batch: binary.BigEndian.Uint32(key[8:])}
	prefix, b, err := coder.ReadSized(b)
	if err != nil || len(b) < 16 {
		return nil, coder.ErrMalformed
	}
	r.prefix = append([]byte(nil), prefix...)
	r.low, r.high = event.Time(binary.BigEndian.Uint64(b)), event.Time(binary.BigEndian.Uint64(b[8:]))
	records, n := binary.Uvarint(b[16:])
	if n <= 0 {
		return nil, coder.ErrMalformed
	}
	r.records = int(records)
	token, b, err := coder.ReadSized(b[16+n:])
	if err != nil {
		return nil, err
	}
	r.token = append(Token(nil), token...)
	for len(b) > 0 {
		ordinal, n := binary.Uvarint(b)
		if n <= 0 {
			return nil, coder.ErrMalformed
		}
		var reason []byte
		if reason, b, err = coder.ReadSized(b[n:]); err != nil {
			return nil, err
		}
		r.failed = append(r.failed, failedOrdinal{uint32(ordinal), string(reason)})
	}
	return r, nil
}
