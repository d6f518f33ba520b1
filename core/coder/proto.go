package coder

import (
	"errors"
	"fmt"
	"reflect"
	"unsafe"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/gosluice/sluice/core/fault"
)

var messageType = reflect.TypeFor[proto.Message]()

// protoLayout codes a pointer to a generated message in the wire format. Maps are
// written in a fixed order, so that a retry in the same binary writes the same
// bytes; but protobuf promises no canonical form: another version of the library
// or of the schema, or unknown fields, may give equal messages different bytes. So
// Deterministic is false, and a message is no key.
func protoLayout(t reflect.Type) (layout, error) {
	typ, err := messageTypeOf(t)
	if err != nil {
		return layout{}, err
	}
	name := "proto:" + string(typ.Descriptor().FullName())
	return layout{
		name: name,
		append: func(dst []byte, p unsafe.Pointer) ([]byte, error) {
			m := reflect.NewAt(t, p).Elem().Interface().(proto.Message)
			return appendMessage(dst, name, m)
		},
		read: func(b []byte, p unsafe.Pointer) error {
			m := typ.New().Interface()
			if err := proto.Unmarshal(b, m); err != nil {
				return malformed(name, "%v", err)
			}
			reflect.NewAt(t, p).Elem().Set(reflect.ValueOf(m))
			return nil
		},
	}, nil
}

func appendMessage(dst []byte, name string, m proto.Message) ([]byte, error) {
	if !m.ProtoReflect().IsValid() {
		// Its bytes would be those of an empty message.
		return dst, fault.Errorf(fault.Permanent, "coder: %s: a nil message has no encoding", name)
	}
	out, err := proto.MarshalOptions{Deterministic: true}.MarshalAppend(dst, m)
	if err != nil {
		return dst, fault.Errorf(fault.Permanent, "coder: %s: %w", name, err)
	}
	return out, nil
}

// messageTypeOf asks a nil message for its type. Messages that are not generated,
// or wrapped in another type, do not know it without a value; some panic.
func messageTypeOf(t reflect.Type) (typ protoreflect.MessageType, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("its message type is unknown without a value: %v", r)
		}
	}()
	typ = reflect.Zero(t).Interface().(proto.Message).ProtoReflect().Type()
	if reflect.TypeOf(typ.New().Interface()) != t {
		return nil, errors.New("it wraps another protobuf message")
	}
	return typ, nil
}
