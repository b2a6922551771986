package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/countersignhq/countersign/chat"
)

// What a person sees: the page's part /live, fetched again at each event and after each answer,
// one fetch at a time, as assets/cards.js does.

// sight is when a person saw what became of their answer.
type sight struct {
	timing
	// taken is the answer to the answer, decided the card without buttons, replied the agent's
	// reply with the result.
	taken, decided, replied time.Time
	// fetched are the fetches that it took.
	fetched series
}

func toTaken(s sight) time.Duration   { return s.taken.Sub(s.answered) }
func toDecided(s sight) time.Duration { return s.decided.Sub(s.answered) }
func toReplied(s sight) time.Duration { return s.replied.Sub(s.answered) }
func toGone(s sight) time.Duration    { return s.effect.Sub(s.answered) }

func sights(all []sight, span func(sight) time.Duration) series {
	s := make(series, len(all))
	for n, one := range all {
		s[n] = span(one)
	}
	return s
}

// seenCall is pageCall until the person sees its end.
func (r *rig) seenCall(ctx context.Context, p *page) (sight, error) {
	var s sight
	for len(p.posts) > 0 {
		<-p.posts
	}
	watched := make(chan error, 1)
	t, err := r.do(ctx, call{
		posts: p.posts, replied: true, talk: p.talk,
		start: func(ctx context.Context, file string) error {
			return p.say(ctx, "/file_manager delete disk=local path="+file)
		},
		answer: func(ctx context.Context, q post) error {
			for len(p.told) > 0 {
				<-p.told
			}
			go func() { watched <- p.watch(ctx, fileOf(q.text), &s) }()
			err := p.tap(ctx, q)
			s.taken = time.Now()
			p.tell()
			return err
		},
	})
	if err != nil {
		return s, err
	}
	s.timing = t
	return s, <-watched
}

// tap presses Yes as the page's script does.
func (p *page) tap(ctx context.Context, q post) error {
	form := url.Values{
		"csrf": {p.csrf}, "nonce": {strconv.FormatInt(p.nonce.Add(1), 10)},
		"invocation": {q.invocation}, "here": {"1"}, "action": {string(chat.ActionYes)},
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.base+"/decisions", strings.NewReader(form.Encode())) //nolint:gosec // the gateway that this program has started
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Accept", "application/json")
	response, err := p.http.Do(request) //nolint:gosec // the gateway that this program has started
	if err != nil {
		return err
	}
	said, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("POST /decisions: status %d: %s", response.StatusCode, said)
	}
	return errors.Join(err, response.Body.Close())
}

// watch fetches whenever it is told to, until the page shows the end of the call about a file.
func (p *page) watch(ctx context.Context, file string, s *sight) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for {
		select {
		case <-p.told:
		case <-ctx.Done():
			return fmt.Errorf("wait until the page shows the end of the call about %s: %w", file, ctx.Err())
		}
		began := time.Now()
		html, err := p.live(ctx)
		if err != nil {
			return err
		}
		at := time.Now()
		s.fetched = append(s.fetched, at.Sub(began))
		decided, replied := shows(html, file)
		if decided && s.decided.IsZero() {
			s.decided = at
		}
		if replied && decided {
			s.replied = at
			return nil
		}
	}
}

func (p *page) live(ctx context.Context) (string, error) {
	response, err := p.send(ctx, http.MethodGet, "/live", "", nil, http.StatusOK)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	html, err := io.ReadAll(response.Body)
	return string(html), err
}

// shows reads the page: is the question about a file closed, and is there a reply about it?
func shows(html, file string) (decided, replied bool) {
	for card := range strings.SplitSeq(html, "<article ") {
		switch {
		case !strings.Contains(card, file):
		case strings.HasPrefix(card, `class="question closed`):
			decided = true
		case strings.HasPrefix(card, `class="reply"`):
			replied = true
		}
	}
	return decided, replied
}

// fileOf is the file that a prompt asks about.
func fileOf(prompt string) string {
	_, rest, _ := strings.Cut(prompt, "bench/")
	name, _, _ := strings.Cut(rest, ".csv")
	return "bench/" + name + ".csv"
}
