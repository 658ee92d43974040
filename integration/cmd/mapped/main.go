// Command mapped maps a file into memory, as numpy.memmap does, and writes its bytes to standard output:
//
//	mapped FILE
//
// Before, it reads each page of the mapping, in an order that jumps as that of an xz plane. It needs no other file: a
// test runs it in a virtual machine that has no Python.
package main

import (
	"fmt"
	"os"
	"syscall"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "mapped:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("expected FILE, found %q", args)
	}
	f, err := os.Open(args[0])
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	b, err := syscall.Mmap(int(f.Fd()), 0, int(info.Size()), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("map %s: %w", f.Name(), err)
	}
	const page, jump = 4096, 37
	var sum byte
	for first := range jump {
		for off := first * page; off < len(b); off += jump * page {
			sum += b[off]
		}
	}
	fmt.Fprintln(os.Stderr, "sum of the first bytes of all pages:", sum)
	_, err = os.Stdout.Write(b)
	return err
}
