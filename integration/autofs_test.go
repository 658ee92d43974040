package integration

import (
	"encoding/binary"
	"fmt"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The protocol of the kernel's automounter (linux/auto_fs.h): the kernel writes a request as a packet into a
// pipe, and the daemon answers with an ioctl that has the token of the request.
const (
	autofsReady       = 0x9360 // AUTOFS_IOC_READY
	autofsFail        = 0x9361 // AUTOFS_IOC_FAIL
	autofsTokenOffset = 8      // in a packet, after version and type
)

// mountAutofs puts an automount on the directory. The test is its daemon. awaitRequest waits until a program
// accesses the directory. answer reports to the kernel whether the file system is mounted.
func mountAutofs(t *testing.T, dir string) (awaitRequest func() (answer func(mounted bool))) {
	t.Helper()
	requests, kernelEnd, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { requests.Close() })
	options := fmt.Sprintf("fd=%d,pgrp=%d,minproto=5,maxproto=5,direct", kernelEnd.Fd(), unix.Getpgrp())
	err = unix.Mount("automount", dir, "autofs", 0, options)
	kernelEnd.Close()
	if err != nil {
		skipUnlessRequired(t, fmt.Sprintf("automounts do not work here: %v", err))
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	root, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	return func() func(bool) {
		packet := make([]byte, 512)
		if err := requests.SetReadDeadline(time.Now().Add(deadline)); err != nil {
			t.Fatal(err)
		}
		if n, err := requests.Read(packet); err != nil || n < autofsTokenOffset+4 {
			t.Fatalf("wait for a request: %d bytes, %v", n, err)
		}
		token := int(binary.NativeEndian.Uint32(packet[autofsTokenOffset:]))
		return func(mounted bool) {
			request := uint(autofsFail)
			if mounted {
				request = autofsReady
			}
			if err := unix.IoctlSetInt(root, request, token); err != nil {
				t.Error(err)
			}
			unix.Close(root)
		}
	}
}
