package filemanager_test

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/attachments"
	"github.com/countersignhq/countersign/tool"
)

func set(t *testing.T, folder attachments.Folder, name, content string) string {
	t.Helper()
	file, err := folder.Set(t.Context(), name, strings.NewReader(content))
	require.NoError(t, err)
	return file.Path
}

func staged(t *testing.T, folder attachments.Folder) map[string]string {
	t.Helper()
	files, err := folder.List(t.Context())
	require.NoError(t, err)
	all := map[string]string{}
	for _, file := range files {
		content, _, err := folder.Open(t.Context(), file.Name)
		require.NoError(t, err)
		text, err := io.ReadAll(content)
		require.NoError(t, err)
		require.NoError(t, content.Close())
		all[file.Name] = string(text)
	}
	return all
}

func TestAttachToReply(t *testing.T) {
	t.Parallel()
	onEachKind(t, func(t *testing.T, b *bench) {
		write(t, b.local, "docs/report.pdf", "R")
		write(t, b.local, "old/report.pdf", "O")
		write(t, b.local, "docs/same.pdf", "R")
		parameters := values{"disk": "local", "path": "docs/report.pdf"}
		want := values{"disk": "local", "path": "docs/report.pdf", "attached": "report.pdf", "size": 1.0}
		require.Equal(t, want, b.do(t, "attach_to_reply", parameters))
		require.Equal(t, want, b.do(t, "attach_to_reply", parameters), "run again it is attached once")
		require.Equal(t, "report-1.pdf", b.do(t, "attach_to_reply", values{"disk": "local", "path": "old/report.pdf"})["attached"])
		require.Equal(t, "report-1.pdf", b.do(t, "attach_to_reply", values{"disk": "local", "path": "old/report.pdf"})["attached"])
		b.do(t, "attach_to_reply", values{"disk": "local", "path": "docs/same.pdf"})
		require.Equal(t, map[string]string{"report.pdf": "R", "report-1.pdf": "O", "same.pdf": "R"}, staged(t, b.store.Outbound("m3")))

		// A copy: what happens to the file later does not change the reply.
		write(t, b.local, "docs/report.pdf", "changed")
		require.Equal(t, "R", staged(t, b.store.Outbound("m3"))["report.pdf"])
	})
}

func TestAttachWithoutAMessage(t *testing.T) {
	t.Parallel()
	b := newBench(t, setup{})
	write(t, b.local, "a.txt", "A")
	op, call := b.call(t, "attach_to_reply", values{"disk": "local", "path": "a.txt"})
	call.MessageUUID = ""
	_, err := op.Run(t.Context(), call)
	require.NoError(t, err)
	require.Equal(t, map[string]string{"a.txt": "A"}, staged(t, b.store.Outbound("01J9")))
}

func TestSaveAttachment(t *testing.T) {
	t.Parallel()
	onEachKind(t, func(t *testing.T, b *bench) {
		set(t, b.store.Inbound("m1"), "photo.jpg", "oldest")
		first := set(t, b.store.Inbound("m2"), "photo.jpg", "newer")
		second := set(t, b.store.Inbound("m2"), "photo.jpg", "twins")
		set(t, b.store.Inbound("m3"), "cafe\u0301.txt", "café")

		require.Equal(t, values{"source": "inbound/m2/photo.jpg", "disk": "local", "path": "pics/p.jpg", "size": 5.0},
			b.do(t, "save_attachment", values{"source": "photo.jpg", "disk": "local", "path": "pics/p.jpg"}))
		require.Equal(t, "newer", read(t, b.local, "pics/p.jpg"))

		// Again: the same file is there. Another one: a number, nothing is overwritten.
		require.Equal(t, "pics/p.jpg", b.do(t, "save_attachment", values{"source": first, "disk": "local", "path": "pics/p.jpg"})["path"])
		require.Equal(t, "pics/p-1.jpg", b.do(t, "save_attachment", values{"source": second, "disk": "local", "path": "pics/p.jpg"})["path"])
		require.Equal(t, "pics/p-1.jpg", b.do(t, "save_attachment", values{"source": "photo-1.jpg", "disk": "local", "path": "pics/p.jpg"})["path"])
		require.Equal(t, "newer", read(t, b.local, "pics/p.jpg"))
		require.Equal(t, "twins", read(t, b.local, "pics/p-1.jpg"))

		require.Equal(t, "pics/photo.jpg", b.do(t, "save_attachment", values{"source": "/inbound/m1/photo.jpg", "disk": "local", "path": "pics"})["path"])
		require.Equal(t, "new/café.txt", b.do(t, "save_attachment", values{"source": "cafe\u0301.txt", "disk": "local", "path": "new/"})["path"])

		require.Equal(t, map[string]string{"photo.jpg": "newer", "photo-1.jpg": "twins"}, staged(t, b.store.Inbound("m2")), "the source is untouched")
		contents := b.contents(t, "save_attachment", values{"source": "photo.jpg", "disk": "local", "path": "x"})
		require.Len(t, contents, 1)
		require.Len(t, contents["local:inbound/m2/photo.jpg"], 64)
	})
}

func TestG17AttachmentsOfOthers(t *testing.T) {
	t.Parallel()
	onEachKind(t, func(t *testing.T, b *bench) {
		theirs := set(t, b.store.Inbound("n1"), "theirs.txt", "secret")
		ours := set(t, b.store.Inbound("m1"), "ours.txt", "ours")
		set(t, b.store.Outbound("m1"), "reply.txt", "reply")
		for _, source := range []string{
			theirs, "theirs.txt", "inbound/n1/none.txt", "none.txt", "inbound/m1/none.txt", "outbound/m1/reply.txt", "outbound/m1/ours.txt", "reply.txt",
			"inbound/m1/../n1/theirs.txt", "INBOUND/m1/ours.txt", "inbound/m1", "inbound", "inbound/*/theirs.txt", "m1/ours.txt",
			"..", ".", "/", "inbound/m1/sub/ours.txt", `inbound\m1\ours.txt`, "OURS.txt",
		} {
			reason := b.refused(t, "save_attachment", values{"source": source, "disk": "local", "path": "x.txt"})
			require.Contains(t, reason, "is not an attachment of this conversation", source)
		}
		for _, target := range []string{"inbound/m1/x.txt", "inbound", "OUTBOUND/x", "outbound/m3/", "../x", "in\u200bbound/x"} {
			b.refused(t, "save_attachment", values{"source": ours, "disk": "local", "path": target})
		}
		require.False(t, exists(t, b.local, "x.txt"))

		// Whoever chooses a call's id does not choose whose attachments it sees.
		op, call := b.call(t, "save_attachment", values{"source": theirs, "disk": "local", "path": "x.txt"})
		call.ID, call.MessageUUID = "n1", "n1"
		var unavailable *tool.UnavailableError
		require.ErrorAs(t, op.Available(t.Context(), call), &unavailable)

		// The other conversation has its own.
		call.ThreadKey = "2002"
		require.NoError(t, op.Available(t.Context(), call))
	})
}
