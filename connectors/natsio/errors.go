package natsio

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/gosluice/sluice/core/fault"
)

// failure names what was tried, with which consumer or stream, and classes the cause.
func failure(op, name string, err error) error {
	return fault.As(classOf(err), fmt.Errorf("nats: %s %s: %w", op, name, err))
}

// classOf says what an error of the client or of the JetStream API means.
func classOf(err error) fault.Class {
	var api *jetstream.APIError
	switch {
	case errors.Is(err, context.Canceled):
		return fault.Closed
	case errors.Is(err, nats.ErrConnectionClosed), errors.Is(err, nats.ErrConnectionDraining):
		return fault.Permanent
	case errors.Is(err, nats.ErrMaxPayload), errors.Is(err, nats.ErrBadSubject),
		errors.Is(err, nats.ErrHeadersNotSupported):
		return fault.Permanent
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount):
		return fault.Permanent
	case errors.Is(err, jetstream.ErrNotPullConsumer):
		return fault.Permanent
	case errors.As(err, &api):
		if api.ErrorCode == jetstream.JSErrCodeConsumerCreate { // "can not be updated"
			return fault.Permanent
		}
		return classOfCode(api.Code)
	}
	return fault.Transient
}

// classOfCode: the API answers 4xx where the request can never work, else 5xx.
func classOfCode(code int) fault.Class {
	const clientErrors, serverErrors = 400, 500
	if code >= clientErrors && code < serverErrors {
		return fault.Permanent
	}
	return fault.Transient
}

// gone says whether err is the broker's word that the consumer or its stream does
// not exist.
func gone(err error) bool {
	return errors.Is(err, jetstream.ErrConsumerNotFound) || errors.Is(err, jetstream.ErrStreamNotFound) ||
		errors.Is(err, jetstream.ErrConsumerDoesNotExist)
}
