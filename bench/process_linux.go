package main

import "syscall"

// dependent keeps a Ctrl-C away from the child, which is stopped in order, and has the kernel
// kill it should this program be killed.
func dependent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
