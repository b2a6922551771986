package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"
)

// large is what one large file costs the worker in memory, on each of its ways.
type large struct {
	// Idle is the worker's memory before, after a small file went all of these ways, in MB.
	Idle float64 `json:"idle_mb"`
	Legs []leg   `json:"legs"`
	Aim  float64 `json:"aim_mb_above_idle"`
	// Exact tells that the kernel kept the most that was in use (VmHWM); else it was looked at
	// every few milliseconds.
	Exact bool   `json:"exact"`
	Load  string `json:"load_before"`
	After string `json:"load_after"`
}

// leg is one way of the file.
type leg struct {
	Name    string  `json:"name"`
	MB      float64 `json:"mb"`
	Seconds float64 `json:"seconds"`
	// Peak is the most memory that was resident meanwhile, Above the same less Idle, in MB.
	Peak  float64 `json:"peak_mb"`
	Above float64 `json:"above_idle_mb"`
}

const (
	largeAim = 100 // MB above idle
	// mailLimit is below what the connector takes for one file of a mail (100 MiB).
	mailLimit = 100e6
	// uploadLimit is below what the gateway takes without http.max_upload (256 MiB).
	uploadLimit = 250e6
	tiny        = 1e4
)

// measureLarge sends a file all ways there are; each is checked byte by byte at its end.
func measureLarge(ctx context.Context, s settings, rep *report, progress io.Writer) (_ printed, err error) {
	l := &large{Aim: largeAim, Load: loadNow()}
	r, err := newRig(ctx, s, withSlack, withMail, withUploads(s.size))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.stop(progress)) }()
	rep.Redis = r.redisName
	if err := r.warm(ctx); err != nil {
		return nil, fmt.Errorf("warm up: %w", err)
	}
	for _, way := range r.ways(tiny) {
		if err := way.take(ctx); err != nil {
			return nil, fmt.Errorf("warm up: %s: %w", way.name, err)
		}
	}
	if err := pause(ctx, s.settle); err != nil {
		return nil, err
	}
	if l.Idle, err = rss(r.worker.pid); err != nil {
		return nil, err
	}
	for _, way := range r.ways(s.size) {
		fmt.Fprintf(progress, "%s …\n", way.name)
		peak, err := watchPeak(r.worker.pid)
		if err != nil {
			return nil, err
		}
		began := time.Now()
		failed := way.take(ctx)
		took := time.Since(began)
		most, exact, err := peak()
		if err := errors.Join(failed, err); err != nil {
			return nil, fmt.Errorf("%s: %w", way.name, err)
		}
		l.Exact = exact
		l.Legs = append(l.Legs, leg{
			Name: way.name, MB: round(float64(way.size)/1e6, 1), Seconds: round(took.Seconds(), 1),
			Peak: most, Above: round(most-l.Idle, 1),
		})
	}
	l.After = loadNow()
	rep.Large = l
	return l, nil
}

// withUploads lets the gateway take a file of that size.
func withUploads(size int64) part {
	return func(context.Context, *rig) (env []string, stop func(), err error) {
		if size > uploadLimit {
			env = append(env, fmt.Sprintf("COUNTERSIGN_HTTP_MAX_UPLOAD=%d", size+1e6))
		}
		return env, func() {}, nil
	}
}

// content is a file of that size that nothing can make smaller; always the same for one size.
func content(size int64) io.Reader {
	return io.LimitReader(rand.NewChaCha8([32]byte{byte(size), byte(size >> 8), byte(size >> 16)}), size)
}

// expected is what weigh finds of it.
func expected(size int64) (parcel, error) { return weigh("", content(size)) }

// same compares a file that went a way with the one that was sent.
func same(got parcel, size int64) error {
	want, err := expected(size)
	switch {
	case err != nil:
		return err
	case got.bytes != size:
		return fmt.Errorf("%d bytes came of %d", got.bytes, size)
	case got.sha256 != want.sha256:
		return errors.New("other bytes came than were sent")
	}
	return nil
}

// onDisk weighs a file of the disk local.
func (r *rig) onDisk(name string) (parcel, error) {
	file, err := os.Open(filepath.Join(r.data(), "files", filepath.FromSlash(name)))
	if err != nil {
		return parcel{}, err
	}
	defer file.Close()
	sum := sha256.New()
	n, err := io.Copy(sum, file)
	return parcel{name: name, bytes: n, sha256: hex.EncodeToString(sum.Sum(nil))}, err
}

func (l *large) print(out io.Writer) {
	lines := [][]string{{"the worker's memory", "file MB", "seconds", "MB/s", "most MB", "above idle", "aim"}}
	for _, g := range l.Legs {
		lines = append(lines, []string{
			g.Name, fmt.Sprintf("%.0f", g.MB), fmt.Sprintf("%.1f", g.Seconds), fmt.Sprintf("%.0f", over(g.MB, g.Seconds)),
			fmt.Sprintf("%.0f", g.Peak), fmt.Sprintf("%.0f", g.Above), fmt.Sprintf("< %.0f", l.Aim),
		})
	}
	how := "VmHWM"
	if !l.Exact {
		how = "VmRSS, sampled"
	}
	table(out, fmt.Sprintf("LARGE: a file of %.0f MB; idle %.0f MB; %s (load %s → %s)", l.Legs[0].MB, l.Idle, how, l.Load, l.After), lines)
}
