package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/countersignhq/countersign/config"
	"github.com/countersignhq/countersign/disks"
)

// Disks are the named disks of the configuration.
type Disks struct{ Config *config.Config }

// Check opens each disk that is used and looks at it; on the attachments disk a probe
// is written, read and deleted.
func (d Disks) Check(ctx context.Context, n *Notes) {
	names := slices.Clone(d.Config.AllowedDisks)
	if attachments := d.Config.Attachments.Disk; !slices.Contains(names, attachments) {
		names = append(names, attachments)
	}
	for _, name := range names {
		d.one(ctx, n, name)
	}
}

func (d Disks) one(ctx context.Context, n *Notes, name string) {
	url := d.Config.Disks[name]
	folder, local := config.Folder(url)
	if local {
		// Opening would make it, perhaps as somebody else than the worker.
		switch info, err := os.Stat(folder); {
		case errors.Is(err, fs.ErrNotExist):
			n.Warn(name, "the worker makes it at its start; make it yourself where the worker may not", "the folder %s is not there yet", folder)
			return
		case err != nil:
			n.Fail(name, "let the worker's user reach it", "%s", cause(err))
			return
		case !info.IsDir():
			n.Fail(name, "name a folder in disks."+name, "%s is no folder", folder)
			return
		}
	}
	opened, err := disks.Open(ctx, disks.Params{URLs: map[string]string{name: url}, Allowed: []string{name}})
	if err != nil {
		n.Fail(name, advice(local), "cannot be opened: %s", cause(err))
		return
	}
	defer opened.Close()
	disk, err := opened.Unguarded(name)
	if err != nil {
		n.Fail(name, advice(local), "%s", cause(err))
		return
	}
	entries, err := disk.List(ctx, "/")
	if err != nil {
		n.Fail(name, advice(local), "cannot be listed: %s", cause(err))
		return
	}
	n.OK(name, "%d entries at the top", len(entries))
	if name == d.Config.Attachments.Disk {
		d.probe(ctx, n, disk, advice(local))
	}
}

func advice(local bool) string {
	if local {
		return "give the worker's user the right to read and write there"
	}
	return "check the bucket's name and region, and the credentials in the environment (AWS_…): they need list, get, put and delete"
}

// probe writes, reads and deletes a file where no agent sees it.
func (d Disks) probe(ctx context.Context, n *Notes, disk *disks.Disk, mend string) {
	folder := "doctor-" + uuid.NewString()
	// Where there are no incoming files yet their folder is the worker's to make.
	if there, err := disk.Exists(ctx, d.Config.Attachments.IncomingPath); err == nil && there {
		folder = path.Join(d.Config.Attachments.IncomingPath, folder)
	}
	const content = "a probe of `starter doctor`; it can be deleted\n"
	err := disk.Write(ctx, path.Join(folder, "probe.txt"), strings.NewReader(content))
	if err == nil {
		err = same(ctx, disk, path.Join(folder, "probe.txt"), content)
	}
	cleared := disk.Clear(context.WithoutCancel(ctx), folder)
	switch {
	case err != nil:
		n.Fail("attachments", mend, "files of messages cannot be kept on %s: %s", disk.Name(), cause(err))
	case cleared != nil:
		n.Fail("attachments", mend, "%s can be written, but what is old cannot be deleted: %s", disk.Name(), cause(cleared))
	default:
		n.OK("attachments", "%s can be written, read and deleted", disk.Name())
	}
}

func same(ctx context.Context, disk *disks.Disk, name, want string) error {
	reader, _, err := disk.Reader(ctx, name)
	if err != nil {
		return err
	}
	defer reader.Close()
	got, err := io.ReadAll(io.LimitReader(reader, int64(len(want))+1))
	if err == nil && string(got) != want {
		return fmt.Errorf("%s does not hold what was written", name)
	}
	return err
}
