package telegram_test

import (
	"context"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/connectors/telegram"
	"github.com/countersignhq/countersign/connectors/telegram/telegramtest"
)

func photo(id, album string) []telegramtest.Option {
	return []telegramtest.Option{
		telegramtest.With("photo", []map[string]any{{"file_id": id}}), telegramtest.With("media_group_id", album),
	}
}

// album lets a person send n photos as one; the second has the caption.
func (b *bench) album(who telegramtest.Person, id string, n int) (last int64) {
	for i := range n {
		options := photo(b.server.Upload("p.jpg", []byte{byte(i + 1)}), id)
		if i == 1 {
			options = append(options, telegramtest.With("caption", "yes"))
		}
		last = b.server.Say(telegramtest.Private(who), who, "", options...)
	}
	return last
}

// requireAlbum checks that the messages are the n parts of one album.
func requireAlbum(t *testing.T, b *bench, got []chat.Message, n int) {
	t.Helper()
	require.Len(t, got, n, "each part at once, as a message of its own")
	events := map[string]bool{}
	for i, m := range got {
		events[m.EventID] = true
		require.Equal(t, "album-1", m.Album)
		require.Equal(t, got[0].UUID, m.UUID)
		require.Len(t, m.Files, 1)
		name := "photo.jpg"
		if i > 0 {
			name = "photo-" + strconv.Itoa(i) + ".jpg"
		}
		require.Equal(t, "inbound/"+m.UUID+"/"+name, m.Files[0].Path)
		require.Equal(t, []byte{byte(i + 1)}, b.files.content[m.Files[0].Path])
		require.Equal(t, map[int]string{1: "yes"}[i], m.Text)
	}
	require.Len(t, events, n)
	require.Len(t, b.files.paths(), n)
}

// Telegram sends the parts of an album to a webhook strictly one after the other, each
// when the one before was answered: whoever waits for the rest waits for ever.
func TestAlbumByWebhook(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.server.Webhook(serve(t, b), secret)
	b.album(ada, "album-1", 3)
	require.NoError(t, b.server.AwaitTaken(t.Context()))
	requireAlbum(t, b, b.desk.Messages(), 3)
}

func TestAlbumSentAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.server.Resend = 1
	b.desk.Fail(chat.ErrUnreachable, chat.ErrUnreachable, chat.ErrUnreachable)
	b.server.Webhook(serve(t, b), secret)
	b.album(ada, "album-1", 3)
	require.NoError(t, b.server.AwaitTaken(t.Context()))
	requireAlbum(t, b, b.desk.Messages(), 3)
	require.Len(t, b.server.Calls("getFile"), 3, "no file is fetched twice")
}

// watched calls seen before each delivery.
type watched struct {
	chat.Desk
	seen func()
}

func (w watched) Deliver(ctx context.Context, m chat.Message) error {
	w.seen()
	return w.Desk.Deliver(ctx, m)
}

// The conversation waits a second for another part; a download may take longer.
func TestAlbumByPolling(t *testing.T) {
	t.Parallel()
	var b *bench
	var fetched []int
	b = newBench(t, polling, func(p *telegram.Params) {
		p.Desk = watched{p.Desk, func() { fetched = append(fetched, len(b.server.Calls("getFile"))) }}
	})
	b.server.Say(telegramtest.Private(ada), ada, "before")
	b.album(ada, "album-1", 2)
	b.server.Say(telegramtest.Private(bob), bob, "between")
	last := b.server.Say(telegramtest.Private(ada), ada, "", photo(b.server.Upload("p.jpg", []byte{3}), "album-1")...)
	b.desk.Fail(chat.ErrUnreachable)
	offsets, stop := b.poll(t, 0)
	until(t, offsets, last+1)
	require.ErrorIs(t, stop(), context.Canceled)
	got := b.desk.Messages()
	require.Equal(t, "before", got[0].Text)
	require.Equal(t, "between", got[3].Text)
	requireAlbum(t, b, slices.Concat(got[1:3], got[4:]), 3)
	require.Equal(t, []int{0, 0, 3, 3, 3, 3}, fetched, "all files are there before the first part is delivered")
}

func TestAlbumCountsOnceForTheRateLimit(t *testing.T) {
	t.Parallel()
	for name, mode := range map[string]func(*telegram.Params){"webhook": func(*telegram.Params) {}, "polling": polling} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := 0
			b := newBench(t, mode, func(p *telegram.Params) {
				p.RateLimit = func(string) bool { asked++; return asked <= 2 }
			})
			b.desk.Fail(chat.ErrUnreachable)
			last := b.album(ada, "album-1", 10)
			if name == "webhook" {
				b.server.Resend = 1
				b.server.Webhook(serve(t, b), secret)
				require.NoError(t, b.server.AwaitTaken(t.Context()))
			} else {
				offsets, stop := b.poll(t, 0)
				until(t, offsets, last+1)
				require.ErrorIs(t, stop(), context.Canceled)
			}
			require.Equal(t, 1, asked, "not by part, not by redelivery")
			requireAlbum(t, b, b.desk.Messages(), 10)
		})
	}
}

func TestUUIDs(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	say := func(b *bench, update int, where telegramtest.Chat, options ...telegramtest.Option) string {
		message := b.server.Compose(where, ada, "x", options...)
		require.Equal(t, 200, b.update(t, update, "message", message))
		got := b.desk.Messages()
		return got[len(got)-1].UUID
	}
	number := func(n int) telegramtest.Option { return telegramtest.With("message_id", n) }
	part := telegramtest.With("media_group_id", "a")
	here, there := telegramtest.Private(ada), group

	first := say(b, 1, here, number(5))
	require.Equal(t, first, say(b, 2, here, number(5)), "the number of the update does not matter")
	inAlbum := say(b, 3, here, number(6), part)
	require.Equal(t, inAlbum, say(b, 4, here, number(7), part))
	other := newBench(t, func(p *telegram.Params) { p.Token = "7000001:another-token-of-the-bot" })
	all := []string{
		first, inAlbum, say(b, 5, here, number(6)), say(b, 6, there, number(5)), say(b, 7, there, number(6), part),
		say(b, 8, here, number(0)), say(b, 9, here, number(0)), say(other, 1, here, number(5)),
		say(b, 10, here, number(8), telegramtest.With("media_group_id", "b")),
	}
	slices.Sort(all)
	require.Len(t, slices.Compact(all), 9, "no other message has it, and none can be guessed without the token")
}
