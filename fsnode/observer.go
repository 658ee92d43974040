//go:build linux

package fsnode

import "time"

// An Observer counts what a server does. Requests call its methods concurrently and wait for them to return.
type Observer interface {
	// Read is called after each READ of a file that is not live. path is the path of the file in the fs.FS,
	// off a byte offset, and n the number of bytes read, 0 if the read failed. took is the time until the
	// bytes were in memory. It does not include their transfer to the kernel.
	Read(path string, off int64, n int, took time.Duration)

	// Pushed is called after n bytes were pushed to the page cache of the kernel.
	Pushed(n int)

	// Failed is called after each request that failed with an error of the fs.FS. op is the name of the
	// request: "lookup", "getattr", "opendir", "open", "read", "lseek" or "close".
	Failed(op, path string, err error)
}

// noObserver is an Observer that counts nothing.
type noObserver struct{}

func (noObserver) Read(string, int64, int, time.Duration) {}
func (noObserver) Pushed(int)                             {}
func (noObserver) Failed(string, string, error)           {}
