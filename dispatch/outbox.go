package dispatch

import (
	"context"
	"sync"

	"github.com/countersignhq/countersign/chat"
)

// maxBatch is how many messages one signal carries at most; each has at most textLimit of text,
// and Temporal allows 2 MB.
const maxBatch = 16

// outbox sends the messages of a conversation one signal after the other, in the order in which
// they came: those that come while one is on its way share the next. A busy conversation then costs
// Temporal as few signals as it can take, and the messages do not wait for each other there.
type outbox struct {
	send func(context.Context, chat.Thread, []chat.Message) error

	mu      sync.Mutex
	waiting map[chat.Thread][]*parcel // an entry says that the thread is being served
}

// parcel is a message on its way.
type parcel struct {
	message chat.Message
	done    chan error
}

// deliver returns once Temporal has the message, or with the error of ctx: then it may still
// arrive, and sent again it has one effect.
func (o *outbox) deliver(ctx context.Context, m chat.Message) error {
	p := &parcel{message: m, done: make(chan error, 1)}
	o.mu.Lock()
	queue, served := o.waiting[m.Thread]
	o.waiting[m.Thread] = append(queue, p)
	if !served {
		go o.serve(context.WithoutCancel(ctx), m.Thread)
	}
	o.mu.Unlock()
	select {
	case err := <-p.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// serve sends until nothing waits.
func (o *outbox) serve(ctx context.Context, t chat.Thread) {
	for {
		batch := o.next(t)
		if len(batch) == 0 {
			return
		}
		messages := make([]chat.Message, len(batch))
		for n, p := range batch {
			messages[n] = p.message
		}
		sending, cancel := context.WithTimeout(ctx, patience)
		err := o.send(sending, t, messages)
		cancel()
		for _, p := range batch {
			p.done <- err
		}
	}
}

// next takes what is sent together; nothing ends the service of a thread.
func (o *outbox) next(t chat.Thread) []*parcel {
	o.mu.Lock()
	defer o.mu.Unlock()
	queue := o.waiting[t]
	if len(queue) == 0 {
		delete(o.waiting, t)
		return nil
	}
	batch := queue[:min(len(queue), maxBatch)]
	o.waiting[t] = queue[len(batch):]
	return batch
}
