package disks_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/countersignhq/countersign/disks"
)

func Example() {
	ctx := context.Background()
	all, err := disks.Open(ctx, disks.Params{
		URLs:      map[string]string{"local": "mem://"},
		Allowed:   []string{"local"},
		Protected: map[string][]string{"local": {"inbound", "outbound"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer all.Close()
	disk, err := all.Guarded("local")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(disk.Write(ctx, "reports/old.csv", strings.NewReader("a;b")))
	fmt.Println(disk.Copy(ctx, "reports/old.csv", "reports"))
	fmt.Println(disk.Mkdir(ctx, "reports"))
	fmt.Println(disk.Write(ctx, "x/../INBOUND/a.txt", strings.NewReader("a;b")))
	// Output:
	// <nil>
	// reports/old.csv <nil>
	// reports-1 <nil>
	// "x/../INBOUND/a.txt" is protected; message attachments are reached with save_attachment and attach_to_reply only
}

func ExampleClean() {
	for _, name := range []string{"/docs//a.txt", "docs/../../etc", "%2e%2e/etc"} {
		clean, err := disks.Clean(name)
		fmt.Printf("%q %v\n", clean, err)
	}
	// Output:
	// "docs/a.txt" <nil>
	// "" "docs/../../etc" leads out of the disk
	// "" "%2e%2e/etc" has a percent-encoded dot, slash or backslash; write it plainly
}
