package emailtest

import (
	"context"
	"errors"
	"net"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/dns/dnsmessage"
)

// Serve answers for the zone over UDP until the test ends, and returns its address: it is
// for programs that cannot be handed a Zone. Of all kinds of records there are only TXT.
func (z *Zone) Serve(t testing.TB) string {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	go func() {
		query := make([]byte, 4096)
		for {
			n, from, err := conn.ReadFrom(query)
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err != nil {
				continue
			}
			if answer, err := z.answer(query[:n]); err == nil {
				_, _ = conn.WriteTo(answer, from)
			}
		}
	}()
	return conn.LocalAddr().String()
}

// answer to a query as it stands in a packet (RFC 1035 §4).
func (z *Zone) answer(query []byte) ([]byte, error) {
	var parser dnsmessage.Parser
	header, err := parser.Start(query)
	if err != nil {
		return nil, err
	}
	question, err := parser.Question()
	if err != nil {
		return nil, err
	}
	values, err := z.LookupTXT(context.Background(), question.Name.String())
	var failure *net.DNSError
	reply := dnsmessage.Header{ID: header.ID, Response: true, RecursionDesired: header.RecursionDesired, RecursionAvailable: true}
	if errors.As(err, &failure) {
		reply.RCode = dnsmessage.RCodeNameError
		if failure.IsTemporary {
			reply.RCode = dnsmessage.RCodeServerFailure
		}
	}
	builder := dnsmessage.NewBuilder(nil, reply)
	builder.EnableCompression()
	if err := builder.StartQuestions(); err != nil {
		return nil, err
	}
	if err := builder.Question(question); err != nil {
		return nil, err
	}
	if err := builder.StartAnswers(); err != nil {
		return nil, err
	}
	if question.Type == dnsmessage.TypeTXT {
		for _, value := range values {
			record := dnsmessage.ResourceHeader{Name: question.Name, Class: dnsmessage.ClassINET}
			if err := builder.TXTResource(record, dnsmessage.TXTResource{TXT: pieces(value)}); err != nil {
				return nil, err
			}
		}
	}
	return builder.Finish()
}

// pieces of a text: a string in a record has at most 255 bytes.
func pieces(value string) []string {
	var all []string
	for len(value) > 255 {
		all, value = append(all, value[:255]), value[255:]
	}
	return append(all, value)
}
