package store

import (
	"bytes"
	"io"
	"io/fs"
	"slices"
	"sync"
	"testing/fstest"
	"time"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// roundTrip is the time of an answer in tests. In testing/synctest, time passes only while all goroutines wait.
// So the duration of a call is the number of answers it waited for, one after the other.
const roundTrip = 5 * time.Millisecond

// request is a request to a remote.
type request struct {
	op  string // open, stat, readdir, list or read
	off int64
	n   int
}

// remote is a file system with slow answers. It records its requests.
type remote struct {
	fs.FS
	takes func(request) (time.Duration, error) // nil: each answer takes a round trip

	mu          sync.Mutex
	requests    []request // in the order of arrival
	now, most   int       // requests in flight, and their maximum
	bytes, peak int       // bytes of reads in flight, and their maximum
}

// ChecksKind implements vfs.KindChecker: requests are counted, and a check would be one more.
func (r *remote) ChecksKind() bool { return true }

// answer records a request and waits for its answer.
func (r *remote) answer(q request) error {
	r.mu.Lock()
	r.requests = append(r.requests, q)
	r.now, r.bytes = r.now+1, r.bytes+q.n
	r.most, r.peak = max(r.most, r.now), max(r.peak, r.bytes)
	r.mu.Unlock()
	took, err := roundTrip, error(nil)
	if r.takes != nil {
		took, err = r.takes(q)
	}
	time.Sleep(took)
	r.mu.Lock()
	r.now, r.bytes = r.now-1, r.bytes-q.n
	r.mu.Unlock()
	return err
}

// forget removes the records.
func (r *remote) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests, r.most, r.peak = nil, r.now, r.bytes
}

// requestsOf returns the requests of a kind, sorted by offset.
func (r *remote) requestsOf(op string) (found []request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, q := range r.requests {
		if q.op == op {
			found = append(found, q)
		}
	}
	slices.SortStableFunc(found, func(a, b request) int { return int(a.off - b.off) })
	return found
}

func (r *remote) Open(name string) (fs.File, error) {
	if err := r.answer(request{op: "open"}); err != nil {
		return nil, err
	}
	f, err := r.FS.Open(name)
	if err != nil {
		return nil, err
	}
	return &remoteFile{f, r}, nil
}

func (r *remote) Stat(name string) (fs.FileInfo, error) {
	if err := r.answer(request{op: "stat"}); err != nil {
		return nil, err
	}
	return fs.Stat(r.FS, name)
}

func (r *remote) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := r.answer(request{op: "readdir"}); err != nil {
		return nil, err
	}
	return fs.ReadDir(r.FS, name)
}

type remoteFile struct {
	fs.File
	r *remote
}

func (f *remoteFile) ReadAt(p []byte, off int64) (int, error) {
	if err := f.r.answer(request{"read", off, len(p)}); err != nil {
		return 0, err
	}
	return f.File.(io.ReaderAt).ReadAt(p, off)
}

// pattern is a file system with one file, "file". Its value is the size in bytes. Each byte of the file
// encodes its offset.
type pattern int64

func (size pattern) Open(name string) (fs.File, error) {
	f, err := fstest.MapFS{"file": {}}.Open(name)
	return patternFile{f, size}, err
}

type patternFile struct {
	fs.File
	size pattern
}

func patternAt(off int64) byte { return byte(off*7 ^ off>>8 ^ off>>16 ^ off>>24) }

// fillPattern fills p with the bytes from offset off on.
func fillPattern(p []byte, off int64) {
	var buffer [4096]byte // the race detector does not look at each byte of a local variable
	for len(p) > 0 {
		piece := buffer[:min(len(buffer), len(p))]
		for i := range piece {
			piece[i] = patternAt(off + int64(i))
		}
		p = p[copy(p, piece):]
		off += int64(len(piece))
	}
}

func (f patternFile) ReadAt(p []byte, off int64) (int, error) {
	n := int(min(max(int64(f.size)-off, 0), int64(len(p))))
	fillPattern(p[:n], off)
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// wrong returns the first offset of a range with a byte that is not the pattern, or -1.
func wrong(r vfs.Range) int64 {
	var want [4096]byte
	for from := 0; from < len(r.P); from += len(want) {
		got := r.P[from:min(from+len(want), len(r.P))]
		if fillPattern(want[:len(got)], r.Off+int64(from)); bytes.Equal(got, want[:len(got)]) {
			continue
		}
		for i, b := range got {
			if b != want[i] {
				return r.Off + int64(from+i)
			}
		}
	}
	return -1
}
