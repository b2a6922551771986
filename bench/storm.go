package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/connectors/slack/slacktest"
	"github.com/countersignhq/countersign/contract"
)

// The storm's conversations: half of them threads of a Slack channel, half Telegram groups.
const (
	talks      = 50
	slackRoom  = "C01"
	firstGroup = -7_000_000
)

const (
	// bareEvery is every how many arrivals a bare signal goes beside them.
	bareEvery = 10
	// resends is how often a platform tries again; Slack does so thrice.
	resends = 3
	ok      = http.StatusOK
)

// storm is what comes in.
type storm struct {
	r     *rig
	roots [talks]string // the first messages of the Slack threads

	mu   sync.Mutex
	hits []hit // the first of each conversation come first
	bare series
}

// hit is one message and what became of it.
type hit struct {
	n          int
	event      map[string]any
	took, late time.Duration
	// first is the status at once, status the latest one; 0 is no answer.
	first, status int
	again         int
}

func (h hit) talk() int    { return h.n % talks }
func (h hit) slack() bool  { return h.talk()%2 == 0 }
func (h hit) group() int64 { return firstGroup - int64(h.talk()) }

// newStorm begins the conversations, so that each of them is there.
func (r *rig) newStorm(ctx context.Context) (*storm, error) {
	s := &storm{r: r}
	for n := range talks {
		s.roots[n] = fmt.Sprintf("%d.%06d", time.Now().Unix()-60, n)
		h := s.message(n)
		s.send(ctx, &h)
		if h.status != ok {
			return nil, fmt.Errorf("message %d was answered %d", n, h.status)
		}
		s.hits = append(s.hits, h)
	}
	return s, until(ctx, "the first messages are answered", time.Minute, func() (bool, error) {
		return s.effects().Missing == 0, nil
	})
}

// message makes the nth. Its text is a command that is not known, so that the answer names it.
func (s *storm) message(n int) hit {
	h := hit{n: n}
	text := fmt.Sprintf("/bench%d now", n)
	if h.slack() {
		mention := "<@" + s.r.slack.User + "> "
		h.event = s.r.slack.Compose(slackRoom, slackAda, mention+text, slacktest.In(s.roots[h.talk()], slackAda))
	} else {
		h.event = s.r.bot.says(h.group(), text)
	}
	return h
}

// send hands it in once.
func (s *storm) send(ctx context.Context, h *hit) {
	var err error
	if h.slack() {
		h.status, err = s.r.gateway.hand(ctx, s.r.slack, h.event, h.again)
	} else {
		h.status, _, err = s.r.gateway.send(ctx, http.MethodPost, "/telegram/webhook", h.event)
	}
	if err != nil {
		h.status = 0
	}
}

// arrive is one arrival of the open loop.
func (s *storm) arrive(ctx context.Context, n int, due time.Time) {
	var beside sync.WaitGroup
	defer beside.Wait()
	if n%bareEvery == 0 {
		beside.Go(func() {
			if s.r.note(ctx, fmt.Sprint(n/bareEvery%talks), fmt.Sprintf("/bench%d now", n)) != nil {
				return
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			s.bare = append(s.bare, time.Since(due))
		})
	}
	h := s.message(talks + n)
	h.late = time.Since(due)
	s.send(ctx, &h)
	h.took, h.first = time.Since(due), h.status
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hits = append(s.hits, h)
}

// resend does what platforms do with what was not answered 200, a little sooner than they, and not
// for longer than patience.
func (s *storm) resend(ctx context.Context, patience time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var sent errgroup.Group
	sent.SetLimit(16)
	for n := range s.hits {
		sent.Go(func() error {
			for h := &s.hits[n]; h.status != ok && h.again < resends; {
				if err := pause(ctx, time.Second); err != nil {
					return err
				}
				h.again++
				s.send(ctx, h)
			}
			return nil
		})
	}
	_ = sent.Wait() // what is left then was never taken
}

// replies are the bot's messages in a conversation, in their order.
func (s *storm) replies(n int) (texts []string) {
	h := hit{n: n}
	if !h.slack() {
		for _, m := range s.r.bot.Sent(h.group()) {
			texts = append(texts, m.Text)
		}
		return texts
	}
	for _, m := range s.r.slack.Sent(slackRoom) {
		if m.Thread == s.roots[n] {
			texts = append(texts, m.Text)
		}
	}
	return texts
}

// messages are the numbers of a conversation's that were answered 200, so far: those must be there.
func (s *storm) messages(n int) (numbers []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.hits {
		if h.talk() == n && h.status == ok {
			numbers = append(numbers, h.n)
		}
	}
	return numbers
}

// effects compares what was replied with what came in, so far.
func (s *storm) effects() (all tally) {
	for n := range talks {
		all = all.plus(count(s.messages(n), s.replies(n), queue{}))
	}
	return all
}

// drain gives the engine some time for its replies, then looks where the rest is.
func (s *storm) drain(ctx context.Context, w *webhooks, patience time.Duration, progress io.Writer) error {
	began := time.Now()
	for {
		w.Effects = s.effects()
		w.Drained = round(time.Since(began).Seconds(), 1)
		if w.Effects.Missing == 0 || w.Drained > patience.Seconds() {
			break
		}
		if err := pause(ctx, time.Second); err != nil {
			return err
		}
	}
	fmt.Fprintf(progress, "%d of %d messages have their reply, looking for the others …\n", w.Effects.Once, len(s.hits))
	w.DrainedOf = w.Effects.Once - talks - w.Answered
	if err := pause(ctx, s.r.settle); err != nil { // a second reply would come after the first
		return err
	}
	w.Effects = s.findAll(ctx, patience/4)
	return ctx.Err()
}

// findAll looks for the messages of all conversations.
func (s *storm) findAll(ctx context.Context, patience time.Duration) (all tally) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var found [talks]tally
	var asked errgroup.Group
	asked.SetLimit(4)
	for n := range talks {
		asked.Go(func() error {
			found[n] = s.find(ctx, n)
			return nil
		})
	}
	_ = asked.Wait() // none fails
	for n := range found {
		all = all.plus(found[n])
	}
	return all
}

// find says where the messages of a conversation are. While a turn is being started its message is
// neither in the queue nor has it its turn, so that one look is not enough.
func (s *storm) find(ctx context.Context, n int) (t tally) {
	const looks = 10
	for range looks {
		if t = count(s.messages(n), s.replies(n), queue{}); t.Missing == 0 {
			return t
		}
		waiting, err := s.waiting(ctx, n)
		if err != nil {
			t.Missing, t.Unknown = 0, t.Missing
			return t
		}
		if t = count(s.messages(n), s.replies(n), waiting); t.Missing == 0 || pause(ctx, time.Second) != nil {
			return t
		}
	}
	return t
}

// waiting asks a conversation what has not had its turn. Temporal answers from a state that has
// all that was acknowledged before.
func (s *storm) waiting(ctx context.Context, n int) (q queue, err error) {
	h := hit{n: n}
	id := talk(h.group())
	if h.slack() {
		id = contract.ConversationID(chat.Thread{Connector: chat.Slack, Key: slackRoom + ":" + s.roots[n]})
	}
	var state contract.Talk
	return q, until(ctx, id+" answers", time.Minute, func() (bool, error) {
		answer, err := s.r.client.QueryWorkflow(ctx, id, "", contract.QueryTalk)
		if err != nil || answer.Get(&state) != nil {
			return false, ctx.Err() // it is busy
		}
		q.turn = state.Turn != ""
		for _, m := range state.Queue {
			q.texts = append(q.texts, m.Text)
		}
		return true, nil
	})
}
