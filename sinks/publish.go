package sinks

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync/atomic"

	"github.com/gosluice/sluice/core"
	"github.com/gosluice/sluice/core/fault"
)

// Publish sends one message per element after the commit of what caused it, and
// waits for the broker's confirmation. A message's ID is the same at every repeat,
// after a crash too: it is exactly once where the broker drops repeated IDs, and at
// least once elsewhere, with the ID in the attribute [AttributeID] for receivers.
func Publish[T any](c core.PCollection[T], name string, p Publisher, encode func(T) (OutMessage, error), cfg Config[T]) WriteResult[T, Published] {
	if g, _ := c.Untyped(); g != nil && (p == nil || encode == nil) {
		g.Problem(name, "its Publisher or encode function is nil")
	}
	return afterCommit(c, name, &outbox[T]{publisher: p, encode: encode}, cfg, true)
}

// PublishInBundle sends before the commit: at least once, with the smallest delay. A
// message's ID is that of the delivery it stands for, where it stands for one.
func PublishInBundle[T any](c core.PCollection[T], name string, p Publisher, encode func(T) (OutMessage, error), cfg Config[T]) WriteResult[T, Published] {
	if g, _ := c.Untyped(); g != nil && (p == nil || encode == nil) {
		g.Problem(name, "its Publisher or encode function is nil")
	}
	return Write[T, Published](c, name, &direct[T]{publisher: p, encode: encode}, cfg)
}

// outbox is a Stager whose token is the messages themselves.
type outbox[T any] struct {
	publisher Publisher
	encode    func(T) (OutMessage, error)
	progress  progress
}

func (o *outbox[T]) Stage(_ context.Context, b Batch[T]) (Staged, error) {
	var s Staged
	var list []numbered
	for r, err := range b.All {
		if err != nil {
			return Staged{}, err
		}
		m, err := encodeOne(o.encode, r.Value)
		if err != nil {
			s.Failed = append(s.Failed, FailedRecord{ID: r.ID, Err: err})
			continue
		}
		list = append(list, numbered{r.ID.Ordinal, m})
	}
	token, err := json.Marshal(list)
	if err != nil {
		return Staged{}, fault.As(fault.Permanent, err)
	}
	s.Token = token
	return s, nil
}

// numbered is a message with the ordinal of its record.
type numbered struct {
	N uint32
	M OutMessage
}

func (o *outbox[T]) Publish(ctx context.Context, id EffectID, token Token) (Outcome[Published], error) {
	var list []numbered
	if err := json.Unmarshal(token, &list); err != nil {
		return Outcome[Published]{}, fault.Errorf(fault.Permanent, "messages of %s cannot be read back: %w", id, err)
	}
	messages := make([]OutMessage, len(list))
	ordinals := make(map[string]RecordID, len(list))
	for i, n := range list {
		messages[i] = identified(n.M, id.String()+"/"+strconv.FormatUint(uint64(n.N), 10))
		ordinals[messages[i].ID] = RecordID{Ordinal: n.N}
	}
	return o.progress.send(ctx, o.publisher, messages, ordinals)
}

func (o *outbox[T]) Discard(context.Context, Token) error   { return nil }
func (o *outbox[T]) Recover(context.Context, []Token) error { return nil }

// direct is a Writer that publishes.
type direct[T any] struct {
	publisher Publisher
	encode    func(T) (OutMessage, error)
	progress  progress
	unnamed   atomic.Uint64
}

func (d *direct[T]) Write(ctx context.Context, b Batch[T]) (Outcome[Published], error) {
	var messages []OutMessage
	var failed []FailedRecord
	ids := make(map[string]RecordID, b.Len)
	for r, err := range b.All {
		if err != nil {
			return Outcome[Published]{}, err
		}
		m, err := encodeOne(d.encode, r.Value)
		if err != nil {
			failed = append(failed, FailedRecord{ID: r.ID, Err: err})
			continue
		}
		if r.ID.Stable() {
			m = identified(m, r.ID.String())
		} else if m.ID == "" { // it stands for no delivery: the id only tells messages apart
			m.ID = "unnamed/" + strconv.FormatUint(d.unnamed.Add(1), 10)
		}
		ids[m.ID] = r.ID
		messages = append(messages, m)
	}
	out, err := d.progress.send(ctx, d.publisher, messages, ids)
	out.Failed = append(out.Failed, failed...)
	return out, err
}

// encodeOne runs user code for one record, with recover.
func encodeOne[T any](encode func(T) (OutMessage, error), v T) (m OutMessage, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return encode(v)
}

// identified gives m its ID, as an attribute too.
func identified(m OutMessage, id string) OutMessage {
	m.ID = id
	attributes := make(map[string]string, len(m.Attributes)+1)
	for k, v := range m.Attributes {
		attributes[k] = v
	}
	attributes[AttributeID] = id
	m.Attributes = attributes
	return m
}
