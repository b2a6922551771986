//go:build unix && !linux

package main

import "syscall"

// dependent keeps a Ctrl-C away from the child, which is stopped in order.
func dependent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
