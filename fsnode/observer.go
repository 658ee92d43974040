package fsnode

import "time"

// Observer is told what a server does. Its methods are called by many requests at once,
// which wait for them.
type Observer interface {
	// Read is told of each READ, except of files that are live: n bytes of the file at the
	// path, from the byte offset on; none where it failed. It took so long to have them;
	// giving them to the kernel is not counted.
	Read(path string, off int64, n int, took time.Duration)

	// Pushed is told of n bytes that the kernel was given unasked, for its page cache.
	Pushed(n int)

	// Failed is told of each request that failed, by its name, such as "lookup" or
	// "read", with the path that it was about.
	Failed(op, path string, err error)
}

// nobody is an Observer that does not care.
type nobody struct{}

func (nobody) Read(string, int64, int, time.Duration) {}
func (nobody) Pushed(int)                             {}
func (nobody) Failed(string, string, error)           {}
