package vfs

// CachedReader is an open file of a late source, of which parts may be on a disk of this machine.
type CachedReader interface {
	// ReadCached fills p from byte offset off and returns true if that needs no request to the source. If it returns false, the
	// content of p is undefined.
	ReadCached(p []byte, off int64) bool
}
