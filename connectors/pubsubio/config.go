package pubsubio

import (
	"errors"
	"fmt"
	"time"
)

// The service's limits of one request.
const (
	requestMessagesMax = 1000
	requestBytesMax    = 10_000_000
)

// PublisherConfig tunes a Publisher. The zero value is good.
type PublisherConfig struct {
	// BatchMessages is the most messages of one request; 1000, the service's own
	// limit, if zero.
	BatchMessages int
	// BatchBytes is the most bytes of one request, unless a single message is
	// larger; 4 MB if zero, at most 10 MB.
	BatchBytes int
	// Lanes is how many ordering keys of one call are sent at the same time; 16 if
	// zero.
	Lanes int
	// Timeout ends a request that is not answered; 30 s if zero.
	Timeout time.Duration
}

// withDefaults returns c completed, or every problem it has.
func (c PublisherConfig) withDefaults() (PublisherConfig, error) {
	var problems []error
	check := func(field string, value, limit int) {
		if value < 0 || value > limit {
			problems = append(problems, fmt.Errorf("%s is %d, want 0 to %d", field, value, limit))
		}
	}
	check("BatchMessages", c.BatchMessages, requestMessagesMax)
	check("BatchBytes", c.BatchBytes, requestBytesMax)
	check("Lanes", c.Lanes, 1000)
	if c.Timeout < 0 {
		problems = append(problems, fmt.Errorf("the Timeout %v is negative", c.Timeout))
	}
	if len(problems) > 0 {
		return c, errors.Join(problems...)
	}
	c.BatchMessages = orDefault(c.BatchMessages, requestMessagesMax)
	c.BatchBytes = orDefault(c.BatchBytes, 4_000_000)
	c.Lanes = orDefault(c.Lanes, 16)
	c.Timeout = orDefault(c.Timeout, 30*time.Second)
	return c, nil
}

func orDefault[N int | time.Duration](n, otherwise N) N {
	if n == 0 {
		return otherwise
	}
	return n
}
