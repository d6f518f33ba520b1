package natsio

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/gosluice/sluice/core/fault"
	"github.com/gosluice/sluice/sinks"
)

// ack is the broker's answer to a publish.
type ack struct {
	Stream    string `json:"stream"`
	Sequence  uint64 `json:"seq"`
	Duplicate bool   `json:"duplicate"`
	Error     *struct {
		Code        int    `json:"code"`
		ErrCode     int    `json:"err_code"`
		Description string `json:"description"`
	} `json:"error"`
}

// take reads one answer.
func (c *publishing) take(m *nats.Msg) {
	i, err := strconv.Atoi(strings.TrimPrefix(m.Subject, c.inbox))
	if err != nil || i >= len(c.msgs) {
		return
	}
	if m.Header.Get(headerStatus) == statusNoResponders {
		c.mark(i, fate{state: failed, err: fault.Errorf(fault.Transient, "no stream takes subject %q (or it has no leader)", c.subject(i))})
		return
	}
	var a ack
	if err := json.Unmarshal(m.Data, &a); err != nil {
		c.mark(i, fate{state: failed, err: fault.Errorf(fault.Ambiguous, "answer to publish: %w", err)})
		return
	}
	if a.Error != nil {
		c.mark(i, fate{state: failed, err: fault.Errorf(classOfCode(a.Error.Code), "%s (%d)", a.Error.Description, a.Error.ErrCode)})
		return
	}
	c.mark(i, fate{state: confirmed, pub: sinks.Published{
		ID: c.msgs[i].ID, MessageID: a.Stream + "/" + strconv.FormatUint(a.Sequence, 10), Duplicate: a.Duplicate,
	}})
}

func (c *publishing) subject(i int) string {
	if s := c.msgs[i].Subject; s != "" {
		return s
	}
	return c.p.cfg.Subject
}
