//go:build unix && !linux

package devstack

import "syscall"

// ownGroup keeps the terminal's signals away from the child. Here nothing
// kills it with a parent that is killed; the next start then names the port.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
