package vfs

// Speed is how a source answers, as far as its last answers show it. The zero value is that of a source about which
// nothing is known.
type Speed struct {
	// Late says that answers take so long that many requests should be in flight at a time, as with a file server or an
	// object store. A local disk is not late.
	Late bool
	// Near says that a disk of this machine had all that was read last: readers need no more of a late source in flight
	// than of a disk. The next read may need the source again.
	Near bool
	// AtOnce says that the source is a disk of this machine. It is never late, and no request to it hangs. The caller
	// of a request may wait for the answer, even if somebody else may want to stop the caller.
	AtOnce bool
	// Remote says that the source is an object store. That never changes.
	Remote bool
	// Long is the number of bytes that a request may have without taking much longer, as to an object store or a
	// distant file server. It is 0 if a request should have the bytes that are needed.
	Long int
	// Doubled says that what a request reads is in memory twice for a while, as with a disk cache, which writes it
	// later: half as many requests should be in flight. That never changes.
	Doubled bool
}

// With returns the speed of what consists of parts with two speeds: the slower one counts. Its requests are as long as
// those of s.
func (s Speed) With(o Speed) Speed {
	s.Late, s.Remote, s.Doubled = s.Late || o.Late, s.Remote || o.Remote, s.Doubled || o.Doubled
	s.Near, s.AtOnce = s.Near && o.Near, s.AtOnce && o.AtOnce
	return s
}

// OfChunks returns the speed of a source whose files are chunks or shards, as of Zarr and Precomputed. They have no
// long requests: loads would get the shape of the order of blocks in WKW. With 30 ms for a request, a sequential reader
// of shards took two to four times as long.
func (s Speed) OfChunks() Speed {
	s.Long = 0
	return s
}

// SpeedReporter is a file system, an open file or a source of blocks that knows its [Speed].
type SpeedReporter interface {
	// Speed returns the speed. It is fast.
	Speed() Speed
}

// SpeedOf returns the speed of a file system, an open file or a source of blocks. It is the zero value if that is no
// [SpeedReporter].
func SpeedOf(x any) Speed {
	if r, ok := x.(SpeedReporter); ok {
		return r.Speed()
	}
	return Speed{}
}
