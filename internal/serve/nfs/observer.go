package nfs

import "time"

// Observer counts what a server does. Calls use its methods concurrently and wait for them to return.
type Observer interface {
	// Read is called after each READ that has asked the file system for bytes. off is a byte offset, and n the number
	// of bytes, 0 if the read failed. took is the time until they were in memory.
	Read(path string, off int64, n int, took time.Duration)
	// Failed is called after each call that failed with an error of the file system. op is the name of the procedure.
	Failed(op, path string, err error)
}

// noObserver is an Observer that counts nothing.
type noObserver struct{}

func (noObserver) Read(string, int64, int, time.Duration) {}
func (noObserver) Failed(string, string, error)           {}
