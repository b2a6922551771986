package email_test

import (
	"context"
	"encoding/base64"
	"io"
	"io/fs"
	"net"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/connectors/email"
	"github.com/countersignhq/countersign/connectors/email/letter"
)

const large = 1 << 30

// BenchmarkLargeIn reads a mail with a file of 1 GB, signed by nobody but sent by a
// trusted sender, and reports the most memory that was in use.
func BenchmarkLargeIn(b *testing.B) {
	for b.Loop() {
		bench := newBench(b, func(p *email.Params) {
			p.TrustFrom, p.MaxFile, p.MaxFiles, p.MaxMail, p.Files = true, 2*large, 2*large, 3*large, nowhere{}
		})
		head := "From: " + ada + "\r\nTo: " + botAddress + "\r\nContent-Type: multipart/mixed; boundary=b\r\n" + strings.ReplaceAll(id(1), "\n", "\r\n") + "\r\n"
		body := "--b\r\n\r\nyes\r\n--b\r\nContent-Transfer-Encoding: base64\r\nContent-Disposition: attachment; filename=a.bin\r\n\r\n"
		peak := watch(b)
		header, _, err := letter.Open(strings.NewReader(head))
		require.NoError(b, err)
		reason, err := bench.ReceiveStream(b.Context(), header, time.Now(), func(context.Context) io.Reader {
			return io.MultiReader(strings.NewReader(head+body), &repeated{left: large / 57, line: line57}, strings.NewReader("--b--\r\n"))
		})
		b.ReportMetric(float64(peak())/(1<<20), "MB-peak")
		require.NoError(b, err)
		require.Empty(b, reason)
		require.Empty(b, bench.desk.Messages()[0].Files[0].Problem)
		require.InDelta(b, large, bench.desk.Messages()[0].Files[0].Size, 100)
	}
}

// BenchmarkLargeOut sends a reply with a file of 1 GB.
func BenchmarkLargeOut(b *testing.B) {
	for b.Loop() {
		var taken atomic.Int64
		server := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &drain{n: &taken}, nil }))
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(b, err)
		go func() { _ = server.Serve(l) }()
		bench := newBench(b, func(p *email.Params) {
			p.Files = nowhere{}
			p.SMTP = email.Server{Host: "127.0.0.1", Port: l.Addr().(*net.TCPAddr).Port, Encryption: email.NoTLS}
		})
		peak := watch(b)
		err = bench.Reply(b.Context(), chat.Reply{
			Thread: thread(ada), UUID: "u", Text: "see", Files: []chat.File{{Name: "a.bin", Path: "x", Size: large}},
		}, progress{})
		b.ReportMetric(float64(peak())/(1<<20), "MB-peak")
		require.NoError(b, err)
		require.Greater(b, taken.Load(), int64(large)*4/3)
		server.Close()
	}
}

// watch samples the heap; the result is the most that was in use above the start.
func watch(b testing.TB) func() uint64 {
	b.Helper()
	runtime.GC()
	var start, now runtime.MemStats
	runtime.ReadMemStats(&start)
	var most atomic.Uint64
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				if runtime.ReadMemStats(&now); now.HeapInuse > start.HeapInuse {
					most.Store(max(most.Load(), now.HeapInuse-start.HeapInuse))
				}
			}
		}
	}()
	return func() uint64 { close(done); <-ended; return most.Load() }
}

var line57 = base64.StdEncoding.EncodeToString(make([]byte, 57)) + "\r\n"

// repeated is one line again and again.
type repeated struct {
	left int
	line string
	rest string
}

func (r *repeated) Read(p []byte) (int, error) {
	if r.rest == "" {
		if r.left == 0 {
			return 0, io.EOF
		}
		r.left--
		r.rest = r.line
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// nowhere is a disk that keeps nothing and hands out zeros.
type nowhere struct{}

func (nowhere) Save(_ context.Context, _, name string, r io.Reader) (chat.File, error) {
	n, err := io.Copy(io.Discard, r)
	return chat.File{Name: name, Path: "x", Size: n}, err
}

func (nowhere) Saved(context.Context, string, string) (chat.File, error) {
	return chat.File{}, fs.ErrNotExist
}

func (nowhere) Open(context.Context, string) (io.ReadCloser, error) {
	return io.NopCloser(io.LimitReader(zeros{}, large)), nil
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

type drain struct{ n *atomic.Int64 }

func (d *drain) Mail(string, *smtp.MailOptions) error { return nil }
func (d *drain) Rcpt(string, *smtp.RcptOptions) error { return nil }
func (d *drain) Data(r io.Reader) error {
	n, err := io.Copy(io.Discard, r)
	d.n.Store(n)
	return err
}
func (d *drain) Reset()        {}
func (d *drain) Logout() error { return nil }
