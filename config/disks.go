package config

import (
	"net/url"
	"path"
	"path/filepath"
	"strings"
)

// fileURL makes the URL of a folder. A relative one has the host ".", which is
// how gocloud.dev/blob/fileblob spells it.
func fileURL(folder string) string {
	if path.IsAbs(folder) {
		return (&url.URL{Scheme: "file", Path: folder}).String()
	}
	return (&url.URL{Scheme: "file", Host: ".", Path: "/" + folder}).String()
}

// Folder returns the folder on this machine that a disk's URL means; ok is
// false where the disk is somewhere else.
func Folder(diskURL string) (folder string, ok bool) {
	parsed, err := url.Parse(diskURL)
	if err != nil || parsed.Scheme != "file" || parsed.Path == "" {
		return "", false
	}
	switch parsed.Host {
	case "", "localhost":
		return filepath.FromSlash(parsed.Path), true
	case ".":
		return filepath.FromSlash(strings.TrimPrefix(parsed.Path, "/")), true
	default:
		return "", false
	}
}
