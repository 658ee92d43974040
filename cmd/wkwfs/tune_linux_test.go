package main

import (
	"bytes"
	"os"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// TestBallastIsNotTouched: the ballast of the collector takes no memory.
func TestBallastIsNotTouched(t *testing.T) {
	page := uintptr(os.Getpagesize())
	first := (page - uintptr(unsafe.Pointer(&ballast[0]))%page) % page
	whole := ballast[first : uintptr(len(ballast))-page]
	resident := make([]byte, (uintptr(len(whole))+page-1)/page)
	_, _, err := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&whole[0])), uintptr(len(whole)),
		uintptr(unsafe.Pointer(&resident[0])))
	if err != 0 {
		t.Fatal(err)
	}
	if n := bytes.Count(resident, []byte{1}); n > 0 {
		t.Errorf("%d of %d pages are in memory", n, len(resident))
	}
}
