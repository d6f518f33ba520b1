package acks

// abort returns everything that no durable epoch decided to the replay queue.
func (b *book[P]) abort() {
	for _, c := range b.channels {
		if c == nil || c.closed || c.count[read]+c.count[fresh] == 0 {
			continue
		}
		for it := c.notDurable(); ; {
			d := it.next()
			if d == nil {
				break
			}
			if d.state == read || d.state == fresh {
				b.wait(c, d)
			}
		}
	}
}

// wait puts d into the replay queue.
func (b *book[P]) wait(c *channel[P], d *delivery[P]) {
	b.set(c, d, waiting)
	c.replayFrom = min(c.replayFrom, d.pos())
}

// replay moves deliveries of c from the replay queue to dst.
func (b *book[P]) replay(c *channel[P], dst []Entry[P]) (n int) {
	if c == nil || c.count[waiting] == 0 {
		return 0
	}
	for it := c.from(c.replayFrom); n < len(dst) && c.count[waiting] > 0; {
		d := it.next()
		if d.state == waiting {
			b.set(c, d, fresh)
			dst[n] = Entry[P]{Ref: d.ref, Payload: d.payload}
			n++
		}
		c.replayFrom = d.pos() + 1
	}
	return n
}

func (b *book[P]) replayAll(dst []Entry[P]) (n int) {
	for _, c := range b.channels {
		if n == len(dst) || b.count[waiting] == 0 {
			break
		}
		if c != nil && !c.closed {
			n += b.replay(c, dst[n:])
		}
	}
	return n
}

func (b *book[P]) unblock(ref Ref) bool {
	c, d := b.find(ref)
	if d == nil || d.state != blocked {
		return false
	}
	b.wait(c, d)
	return true
}

// close gives a channel up.
func (b *book[P]) close(ch Channel) (payloads []P) {
	c := b.channel(ch)
	if c == nil {
		return nil
	}
	var held []*delivery[P]
	for it := c.from(0); ; {
		d := it.next()
		if d == nil {
			break
		}
		held = append(held, d)
		payloads = append(payloads, d.payload)
	}
	for _, d := range held {
		b.forget(c, d)
	}
	*c = channel[P]{id: c.id, known: c.known, last: c.last, closed: true}
	return payloads
}
