package rediscompat_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/rediscompat"
	"github.com/countersignhq/countersign/rediscompat/embedded"
)

// A question is announced, another program pushes the answer.
func Example() {
	server, err := embedded.Start("127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()

	answers := make(chan rediscompat.Answer, 1)
	mirror, err := rediscompat.New(rediscompat.Params{
		URL:    server.URL(),
		Answer: func(_ context.Context, a rediscompat.Answer) error { answers <- a; return nil },
		Ours:   func(_ context.Context, value string) (bool, error) { return strings.HasPrefix(value, "01J"), nil },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = mirror.Shutdown() }()

	ctx, thread := context.Background(), chat.Thread{Connector: chat.Telegram, Key: "1001"}
	if err := mirror.Open(ctx, thread, "01JABC", 120*time.Second); err != nil {
		fmt.Println("warning:", err)
	}
	php := redis.NewClient(&redis.Options{Addr: server.Addr()})
	defer func() { _ = php.Close() }()
	fmt.Println(php.Get(ctx, "awaiting_confirm:telegram:1001").Val())
	php.RPush(ctx, "confirm:telegram:1001", "yes")

	answer := <-answers
	fmt.Println(answer.Invocation, answer.Text)
	fmt.Println(mirror.Close(ctx, thread, answer.Invocation))
	// Output:
	// 01JABC
	// 01JABC yes
	// <nil>
}
