package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/countersignhq/countersign/contract"
)

// memory is what pending questions cost.
type memory struct {
	Pending int `json:"pending"`
	// Asked a second, while they were started 16 at a time.
	Asked     float64    `json:"asked_per_second"`
	Processes []resident `json:"processes"`
	// List is how long GET /api/approvals?status=pending takes with all of them pending, ListAgain
	// the same once more: the gateway remembers then.
	List      float64 `json:"list_ms"`
	ListAgain float64 `json:"list_again_ms"`
	// Answer is an HTTP decision → file gone, with one question more, and all others pending;
	// Before is the same with nothing pending.
	Answer row `json:"answer_to_effect"`
	Before row `json:"answer_to_effect_before"`
	// InboxBytes is how large the inbox's answer to the pending query is.
	InboxBytes int `json:"inbox_bytes"`
}

// resident is the memory of one process, in MB (10^6), and the CPU that it uses while it only waits.
type resident struct {
	Name   string  `json:"name"`
	Idle   float64 `json:"idle_mb"`
	Full   float64 `json:"with_pending_mb"`
	PerOne float64 `json:"kb_per_question"`
	CPU    float64 `json:"cpu_percent_waiting"`
	pid    int
}

// measureMemory fills an installation of its own with questions.
func measureMemory(ctx context.Context, s settings, rep *report, progress io.Writer) (_ printed, err error) {
	r, err := newRig(ctx, s)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.stop(progress)) }()
	rep.Redis = r.redisName
	if err := r.warm(ctx); err != nil {
		return nil, fmt.Errorf("warm up: %w", err)
	}
	m := &memory{Processes: []resident{{Name: "worker", pid: r.worker.pid}, {Name: "Temporal", pid: r.temporal.PID()}}}
	if r.redis != nil {
		m.Processes = append(m.Processes, resident{Name: "Redis", pid: r.redis.pid})
	}
	if m.Before, err = r.answers(ctx, s.sampled, "HTTP decision → file gone, nothing else pending"); err != nil {
		return nil, err
	}
	if err := m.look(ctx, s.settle, func(p *resident, mb float64) { p.Idle = mb }); err != nil {
		return nil, err
	}
	if err := m.fill(ctx, r, s); err != nil {
		return nil, err
	}
	if err := m.look(ctx, s.settle, func(p *resident, mb float64) { p.Full = mb }); err != nil {
		return nil, err
	}
	for n := range m.Processes {
		p := &m.Processes[n]
		p.PerOne = round((p.Full-p.Idle)*1000/float64(m.Pending), 1)
	}
	if err := m.cpu(ctx, s.watch); err != nil {
		return nil, err
	}
	if err := m.ask(ctx, r); err != nil {
		return nil, err
	}
	m.Answer, err = r.answers(ctx, s.sampled, fmt.Sprintf("HTTP decision → file gone, %d pending", m.Pending))
	rep.Memory = m
	return m, err
}

// fill starts questions, each in a conversation of its own, and waits until all are known.
func (m *memory) fill(ctx context.Context, r *rig, s settings) error {
	const lanes = 16
	end := time.Now().Add(s.budget * 3 / 2)
	var asked atomic.Int64
	began := time.Now()
	_, _, err := flood(ctx, lanes, s.pending, func(ctx context.Context, _ int) error {
		if time.Now().After(end) {
			return nil // as many as there are
		}
		name, _, err := r.file()
		if err != nil {
			return err
		}
		chat := -1_000_000 - asked.Add(1)
		posts := r.bot.listen(chat)
		defer r.bot.deaf(chat)
		if _, err := r.gateway.invoke(ctx, chat, name); err != nil {
			return err
		}
		_, err = take(ctx, posts, isPrompt)
		return err
	})
	if err != nil {
		return fmt.Errorf("ask: %w", err)
	}
	m.Pending = int(asked.Load())
	m.Asked = round(float64(m.Pending)/time.Since(began).Seconds(), 1)
	return until(ctx, "the inbox has them all", time.Minute, func() (bool, error) {
		var pending []contract.Pending
		answer, err := r.client.QueryWorkflow(ctx, contract.InboxID, "", contract.QueryPending)
		if err == nil {
			err = answer.Get(&pending)
		}
		return len(pending) == m.Pending, err
	})
}

// ask lists what is pending.
func (m *memory) ask(ctx context.Context, r *rig) error {
	for _, took := range []*float64{&m.List, &m.ListAgain} {
		var listed struct {
			Approvals []contract.Approval `json:"approvals"`
		}
		began := time.Now()
		if err := r.gateway.do(ctx, http.MethodGet, "/api/approvals?status=pending", nil, http.StatusOK, &listed); err != nil {
			return err
		}
		*took = milliseconds(time.Since(began))
		if len(listed.Approvals) != m.Pending {
			return fmt.Errorf("the list of pending questions has %d of %d", len(listed.Approvals), m.Pending)
		}
	}
	answer, err := r.client.WorkflowService().QueryWorkflow(ctx, inboxQuery())
	if err != nil {
		return fmt.Errorf("ask the inbox: %w", err)
	}
	for _, p := range answer.GetQueryResult().GetPayloads() {
		m.InboxBytes += len(p.GetData())
	}
	return nil
}

// answers measures a few decisions.
func (r *rig) answers(ctx context.Context, times int, name string) (row, error) {
	var timings []timing
	for range times {
		t, err := r.httpCall(ctx, -2)
		if err != nil {
			return row{}, err
		}
		timings = append(timings, t)
	}
	return spans(timings, toEffect).row(name), nil
}

// look reads the memory of all of them, after they were left alone.
func (m *memory) look(ctx context.Context, settle time.Duration, keep func(*resident, float64)) error {
	if err := pause(ctx, settle); err != nil {
		return err
	}
	for n := range m.Processes {
		mb, err := rss(m.Processes[n].pid)
		if err != nil {
			return err
		}
		keep(&m.Processes[n], mb)
	}
	return nil
}

// cpu watches what they use while nobody does anything.
func (m *memory) cpu(ctx context.Context, watch time.Duration) error {
	before := make([]time.Duration, len(m.Processes))
	for n, p := range m.Processes {
		used, err := cpuTime(p.pid)
		if err != nil {
			return err
		}
		before[n] = used
	}
	began := time.Now()
	if err := pause(ctx, watch); err != nil {
		return err
	}
	for n := range m.Processes {
		used, err := cpuTime(m.Processes[n].pid)
		if err != nil {
			return err
		}
		m.Processes[n].CPU = round(100*float64(used-before[n])/float64(time.Since(began)), 1)
	}
	return nil
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
