package devstack

import "syscall"

// ownGroup keeps the terminal's signals away from the child, and has the
// kernel kill it when the thread that started it ends: with the parent,
// however that ends. SIGKILL frees port and file at once; the write-ahead log
// makes it safe.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
