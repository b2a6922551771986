//go:build unix

package testtools

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// versitygw is an S3 server in Go that keeps objects in a folder.
const (
	versitygw    = "github.com/versity/versitygw@v1.8.0"
	versitygwCmd = "cmd/versitygw"

	s3Region = "us-east-1"
	s3Key    = "countersign-test"
	s3Secret = "countersign-test-secret"
)

// S3 returns the URL of a new, empty bucket on a real S3 server, in the form
// that disks and gocloud take. The server is started once for a test process
// and ends with it, however that ends. The credentials are put into the
// environment of the process, where the S3 client looks for them.
func S3(t testing.TB) string {
	t.Helper()
	endpoint, err := s3Server()
	if err != nil {
		t.Fatalf("start S3 server: %v", err)
	}
	bucket := "t" + strings.ToLower(rand.Text())
	client := s3.New(s3.Options{
		Region:       s3Region,
		BaseEndpoint: aws.String(endpoint),
		UsePathStyle: true,
		Credentials:  credentials.NewStaticCredentialsProvider(s3Key, s3Secret, ""),
	})
	if _, err := client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: &bucket}); err != nil {
		t.Fatalf("create bucket: %v", err)
	}
	query := url.Values{"region": {s3Region}, "endpoint": {endpoint}, "use_path_style": {"true"}}
	return "s3://" + bucket + "?" + query.Encode()
}

var s3Server = sync.OnceValues(func() (string, error) {
	program, err := build(versitygw, versitygwCmd)
	if err != nil {
		return "", err
	}
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": s3Key, "AWS_SECRET_ACCESS_KEY": s3Secret, "AWS_EC2_METADATA_DISABLED": "true",
	} {
		if err := os.Setenv(name, value); err != nil {
			return "", err
		}
	}
	var errs []error
	// Somebody may take a port between choosing it and listening on it.
	for range 3 {
		endpoint, err := startS3(program)
		if err == nil {
			return endpoint, nil
		}
		errs = append(errs, err)
	}
	return "", errors.Join(errs...)
})

// untilEOF runs a program until its standard input closes, which also happens
// when the test process is killed, and then removes the folder $1.
const untilEOF = `dir=$1; shift; "$@" </dev/null & pid=$!; cat >/dev/null; kill $pid; wait $pid; rm -rf "$dir"`

func startS3(program string) (string, error) {
	dir, err := os.MkdirTemp("", "countersign-s3-")
	if err != nil {
		return "", err
	}
	for _, sub := range []string{"objects", "meta"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o750); err != nil {
			return "", err
		}
	}
	address, err := freeAddress()
	if err != nil {
		return "", err
	}
	server := exec.Command("sh", "-c", untilEOF, "sh", dir, program,
		"--port", address, "--access", s3Key, "--secret", s3Secret, "--region", s3Region, "--quiet",
		"posix", "--sidecar", filepath.Join(dir, "meta"), filepath.Join(dir, "objects"))
	var stdin io.WriteCloser
	if stdin, err = server.StdinPipe(); err != nil {
		return "", err
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return "", err
	}
	defer log.Close()
	server.Stdout, server.Stderr = log, log
	if err := server.Start(); err != nil {
		return "", err
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Wait() }()
	endpoint := "http://" + address
	if err := answers(endpoint, ended); err != nil {
		said, _ := os.ReadFile(log.Name())
		_ = stdin.Close()
		return "", fmt.Errorf("%w\n%s", err, said)
	}
	// Kept open for the life of the process.
	keepOpen = append(keepOpen, stdin)
	return endpoint, nil
}

var keepOpen []io.Closer

func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}

// answers waits until a server answers HTTP at all.
func answers(endpoint string, ended <-chan error) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, endpoint, nil)
		if err != nil {
			return err
		}
		if response, err := http.DefaultClient.Do(request); err == nil {
			return response.Body.Close()
		}
		select {
		case err := <-ended:
			return fmt.Errorf("the server ended: %w", err)
		case <-ctx.Done():
			return errors.New("the server did not answer within 30 s")
		case <-tick.C:
		}
	}
}
