package fault_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/gosluice/sluice/core/fault"
)

var errCause = errors.New("quota")

func TestClassOfAnError(t *testing.T) {
	permanent := fault.As(fault.Permanent, errCause)
	for _, c := range []struct {
		name string
		err  error
		want fault.Class
	}{
		{"nobody classified it", errCause, fault.Transient},
		{"classified", permanent, fault.Permanent},
		{"wrapped", fmt.Errorf("orders: %w", permanent), fault.Permanent},
		{"outermost wins", fault.As(fault.Ambiguous, fmt.Errorf("retry: %w", permanent)), fault.Ambiguous},
		{"joined", errors.Join(errCause, permanent), fault.Permanent},
		{"cancelled", fmt.Errorf("poll: %w", context.Canceled), fault.Closed},
		{"cancelled, yet classified", fault.As(fault.Lost, context.Canceled), fault.Lost},
		{"deadline is no stop", context.DeadlineExceeded, fault.Transient},
		{"formatted", fault.Errorf(fault.Bug, "epoch %d: %w", 3, errCause), fault.Bug},
	} {
		if got := fault.Of(c.err); got != c.want {
			t.Errorf("%s: class %v, want %v", c.name, got, c.want)
		}
	}
}

func TestErrorKeepsItsCause(t *testing.T) {
	for _, err := range []error{fault.As(fault.Lost, errCause), fault.Errorf(fault.Lost, "%w", errCause)} {
		if !errors.Is(err, errCause) || err.Error() != "quota" {
			t.Errorf("%v: the cause is gone", err)
		}
	}
	if err := fault.As(fault.Lost, nil); err != nil {
		t.Errorf("As(nil) = %v, want nil", err)
	}
}

func TestClassNames(t *testing.T) {
	for class, want := range map[fault.Class]string{
		fault.Transient: "transient", fault.Permanent: "permanent", fault.Ambiguous: "ambiguous",
		fault.Lost: "lost", fault.Closed: "closed", fault.Bug: "bug", 99: "class(99)",
	} {
		if got := class.String(); got != want {
			t.Errorf("class %d prints %q, want %q", class, got, want)
		}
	}
}
