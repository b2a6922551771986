package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

// The minimal workflow is the least that one would write by hand for an approval: send the
// question, wait for a signal or a timer, do it. No router, no card that is edited, no record of
// what is pending, no second check, one person: what it costs is what any such workflow costs.

const (
	minimalQueue  = "minimal"
	minimalSignal = "answer"
)

// errand is its input.
type errand struct {
	Chat    int64
	Prompt  string
	Path    string
	Timeout time.Duration
}

func minimal(ctx workflow.Context, in errand) (string, error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: time.Minute, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1},
	})
	if err := workflow.ExecuteActivity(ctx, "minimal_ask", in).Get(ctx, nil); err != nil {
		return "", err
	}
	answer := ""
	workflow.NewSelector(ctx).
		AddReceive(workflow.GetSignalChannel(ctx, minimalSignal), func(c workflow.ReceiveChannel, _ bool) { c.Receive(ctx, &answer) }).
		AddFuture(workflow.NewTimer(ctx, in.Timeout), func(workflow.Future) {}).
		Select(ctx)
	if answer != "yes" {
		return "denied", nil
	}
	return "done", workflow.ExecuteActivity(ctx, "minimal_run", in).Get(ctx, nil)
}

// minimalTalk takes signals for ever: what a message costs that is only written down.
func minimalTalk(ctx workflow.Context) error {
	for signals := workflow.GetSignalChannel(ctx, minimalSignal); ; {
		signals.Receive(ctx, nil)
	}
}

// minimalSteps are its activities.
type minimalSteps struct {
	url  string
	http *http.Client
}

// Ask sends the question to the same Telegram server that ours goes to.
func (m *minimalSteps) Ask(ctx context.Context, in errand) error {
	form := url.Values{"chat_id": {strconv.FormatInt(in.Chat, 10)}, "text": {in.Prompt}}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, m.url, strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := m.http.Do(request)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		err = fmt.Errorf("sendMessage: status %d", response.StatusCode)
	}
	return errors.Join(err, response.Body.Close())
}

// Run deletes the file.
func (m *minimalSteps) Run(_ context.Context, in errand) error { return os.Remove(in.Path) }

// startMinimal runs its worker here, with the options of ours.
func startMinimal(c client.Client, b *bot) (worker.Worker, error) {
	w := worker.New(c, minimalQueue, worker.Options{
		MaxConcurrentWorkflowTaskPollers: 8, MaxConcurrentActivityTaskPollers: 8, StickyScheduleToStartTimeout: 2 * time.Second,
	})
	steps := &minimalSteps{url: b.URL() + "/bot" + b.Token + "/sendMessage", http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256}}}
	w.RegisterWorkflowWithOptions(minimal, workflow.RegisterOptions{Name: "Minimal"})
	w.RegisterWorkflowWithOptions(minimalTalk, workflow.RegisterOptions{Name: "MinimalTalk"})
	w.RegisterActivityWithOptions(steps.Ask, activity.RegisterOptions{Name: "minimal_ask"})
	w.RegisterActivityWithOptions(steps.Run, activity.RegisterOptions{Name: "minimal_run"})
	if err := w.Start(); err != nil {
		return nil, fmt.Errorf("start the worker of the minimal workflow: %w", err)
	}
	return w, nil
}

// note signals a minimal talk, which is started where it is not there: the least that a webhook
// has to do before it may answer.
func (r *rig) note(ctx context.Context, talk, text string) error {
	_, err := r.client.SignalWithStartWorkflow(ctx, "minimal-talk/"+talk, minimalSignal, text,
		client.StartWorkflowOptions{ID: "minimal-talk/" + talk, TaskQueue: minimalQueue}, "MinimalTalk")
	return err
}

// startErrand starts a minimal workflow and waits until its question is out.
func (r *rig) startErrand(ctx context.Context, chat int64, posts <-chan post) (client.WorkflowRun, string, post, error) {
	name, path, err := r.file()
	if err != nil {
		return nil, "", post{}, err
	}
	run, err := r.client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: "minimal/" + name, TaskQueue: minimalQueue}, "Minimal",
		errand{Chat: chat, Prompt: "Delete " + name + "?", Path: path, Timeout: time.Hour})
	if err != nil {
		return nil, "", post{}, fmt.Errorf("start the minimal workflow: %w", err)
	}
	prompt, err := take(ctx, posts, func(p post) bool { return strings.Contains(p.text, name) })
	return run, path, prompt, err
}

// answerErrand says yes and waits for the end.
func (r *rig) answerErrand(ctx context.Context, run client.WorkflowRun) error {
	if err := r.client.SignalWorkflow(ctx, run.GetID(), run.GetRunID(), minimalSignal, "yes"); err != nil {
		return fmt.Errorf("answer the minimal workflow: %w", err)
	}
	var result string
	if err := run.Get(ctx, &result); err != nil {
		return fmt.Errorf("the minimal workflow: %w", err)
	}
	if result != "done" {
		return fmt.Errorf("the minimal workflow is %q", result)
	}
	return nil
}
