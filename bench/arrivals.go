package main

import (
	"context"
	"regexp"
	"strconv"
	"sync"
	"time"
)

// arrivals begins something at a steady rate, whatever becomes of what was begun before: an open
// loop, as platforms are one. It returns when all of it has ended.
func arrivals(ctx context.Context, rate int, during time.Duration, do func(ctx context.Context, n int, due time.Time)) {
	var wg sync.WaitGroup
	began := time.Now()
	for n := range int(during.Seconds() * float64(rate)) {
		due := began.Add(time.Duration(n) * time.Second / time.Duration(rate))
		if pause(ctx, time.Until(due)) != nil {
			break
		}
		wg.Go(func() { do(ctx, n, due) })
	}
	wg.Wait()
}

// tally is where messages are, by what was replied to each and by what waits in its conversation.
type tally struct {
	// All count messages.
	Once     int `json:"replied_once"`
	Waiting  int `json:"waiting_once"`
	Missing  int `json:"nowhere"`
	Repeated int `json:"more_than_once"`
	// Unknown have no reply, in a conversation that did not say in time what waits in it.
	Unknown int `json:"unknown"`
}

func (t tally) plus(o tally) tally {
	return tally{t.Once + o.Once, t.Waiting + o.Waiting, t.Missing + o.Missing, t.Repeated + o.Repeated, t.Unknown + o.Unknown}
}

// queue is what waits in a conversation; turn tells that one more has its turn.
type queue struct {
	texts []string
	turn  bool
}

// The command of a message is one that the agent does not know: the reply names it.
var (
	repliedTo = regexp.MustCompile(`"bench(\d+)"`)
	waits     = regexp.MustCompile(`^/bench(\d+) `)
)

// numbers finds the messages that texts are about, in their order.
func numbers(texts []string, by *regexp.Regexp) (all []int) {
	for _, text := range texts {
		if found := by.FindStringSubmatch(text); found != nil {
			n, _ := strconv.Atoi(found[1])
			all = append(all, n)
		}
	}
	return all
}

// count looks for the messages of one conversation in its replies and, read before these, its queue.
func count(messages []int, replies []string, waiting queue) (t tally) {
	replied, queued := numbers(replies, repliedTo), numbers(waiting.texts, waits)
	times := func(all []int, n int) (times int) {
		for _, other := range all {
			if other == n {
				times++
			}
		}
		return times
	}
	for _, n := range messages {
		r, q := times(replied, n), times(queued, n)
		switch {
		case r > 1 || q > 1: // in both: it had its turn meanwhile
			t.Repeated++
		case r == 1:
			t.Once++
		case q == 1:
			t.Waiting++
		case waiting.turn: // it is being answered
			t.Waiting++
			waiting.turn = false
		default:
			t.Missing++
		}
	}
	return t
}
