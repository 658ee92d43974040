//go:build linux

package fsnode

import (
	"context"
	"fmt"
	"io/fs"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// TestPushOutsideOfFile: a push behind the end of the file, or of a part of a page, is refused and reported.
func TestPushOutsideOfFile(t *testing.T) {
	var sinks []vfs.Sink
	src, failed := newSource("f"), new(failures)
	src.MapFS["f"].Data = make([]byte, 10)
	src.file = func(f fs.File) fs.File { return pushing{f.(*sourceFile), &sinks} }
	s := newSessionWith(t, src, Options{Observer: failed})
	s.mount.limits = limits{page: 4, piece: 16, ahead: 8}
	s.open(nil, s.find("f"))
	if len(sinks) != 1 || sinks[0].Page != 4 || sinks[0].Piece != 16 || sinks[0].Ahead != 8 {
		t.Fatalf("got %+v", sinks)
	}
	for _, c := range []struct {
		off, n int64
		failed bool
	}{{0, 4, false}, {4, 4, false}, {0, 8, false}, {8, 4, true}, {2, 4, true}, {0, 3, true}, {4, 0, true},
		{-4, 8, true}} {
		failed.got = nil
		if sinks[0].Write(make([]byte, c.n), c.off) { // without a mount, the page cache takes nothing
			t.Errorf("%d bytes at %d are taken", c.n, c.off)
		}
		if c.failed != (len(failed.got) == 1) {
			t.Errorf("%d bytes at %d: reported %v", c.n, c.off, failed.got)
		}
	}
}

// counting is a file with the digits from 0 on. It follows io.ReaderAt also after its end.
type counting struct{ *sourceFile }

func (f counting) ReadAt(p []byte, off int64) (int, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return strings.NewReader("0123456789"[:info.Size()]).ReadAt(p, off)
}

// countingContext is one that implements vfs.ContextReaderAt.
type countingContext struct{ counting }

func (f countingContext) ReadAtContext(_ context.Context, p []byte, off int64) (int, error) {
	return f.ReadAt(p, off)
}

// TestAllReads reads all ranges of small files of each kind, also after the end.
func TestAllReads(t *testing.T) {
	for kind, add := range map[string]func(counting) fs.File{
		"a file":             func(f counting) fs.File { return f },
		"one with a context": func(f counting) fs.File { return countingContext{f} },
	} {
		for size := range 10 {
			src := newSource("f")
			src.MapFS["f"].Data = make([]byte, size)
			src.file = func(f fs.File) fs.File { return add(counting{f.(*sourceFile)}) }
			s := newSession(t, src, nil)
			node := s.find("f")
			handle, _ := s.open(nil, node)
			for off := range size + 3 {
				for n := range size + 3 {
					in := &fuse.ReadIn{InHeader: *header(node), Fh: handle, Offset: uint64(off), Size: uint32(n)}
					result, status := s.nodes.Read(nil, in, make([]byte, n))
					if !status.Ok() {
						t.Fatalf("%s: %d bytes at %d of %d: %v", kind, n, off, size, status)
					}
					var got []byte
					if v, ok := result.(interface {
						Slices() ([][]byte, fuse.Status)
					}); ok {
						all, _ := v.Slices()
						got = slices.Concat(all...)
					} else {
						got, _ = result.Bytes(nil)
					}
					if want := "0123456789"[min(off, size):min(off+n, size)]; string(got) != want ||
						result.Size() != len(want) {
						t.Errorf("%s: %d bytes at %d of %d: got %q", kind, n, off, size, got)
					}
				}
			}
			s.release(node, handle)
		}
	}
}

// inBatches is a source with the directory "dir" of n files, which it lists some at a time.
type inBatches struct {
	*source
	n, size int
}

func (b inBatches) List(string) iter.Seq2[[]fs.DirEntry, error] {
	return func(yield func([]fs.DirEntry, error) bool) {
		entries, err := b.source.ReadDir("dir")
		for batch := range slices.Chunk(entries, b.size) {
			if !yield(batch, nil) {
				return
			}
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

// TestAllListingOffsets lists directories of 0 to 7 entries in batches of 1 to 3. It goes on at all pairs of offsets,
// with room for one, two or all entries.
func TestAllListingOffsets(t *testing.T) {
	for n := range 8 {
		want := []string{".", ".."}
		src := newSource("dir/0")
		for i := range n {
			want = append(want, fmt.Sprint(i))
			src.MapFS["dir/"+want[i+2]] = src.MapFS["dir/0"]
		}
		if n == 0 {
			delete(src.MapFS, "dir/0")
			src.MapFS["dir"] = newSource("d").MapFS["d"]
			src.MapFS["dir"].Mode = fs.ModeDir | 0o755
		}
		for size := 1; size <= 3; size++ {
			s := newSession(t, inBatches{src, n, size}, nil)
			s.mount.limits.batch = size
			dir := s.find("dir")
			for first := range len(want) + 1 {
				for second := range len(want) + 2 {
					for _, room := range []int{32, 64, 4096} {
						handle, status := s.opendir(nil, dir)
						if !status.Ok() {
							t.Fatal(status)
						}
						for _, off := range []int{first, second} {
							entries, status := s.list(dir, handle, uint64(off), room)
							got := namesOf(entries)
							rest := want[min(off, len(want)):]
							if off > len(want) && (status == fuse.EINVAL || status.Ok()) && len(got) == 0 {
								continue
							}
							if !status.Ok() || !slices.Equal(got, rest[:min(len(rest), len(got))]) ||
								len(got) < min(len(rest), 1) {
								t.Errorf("%q in batches of %d, from %d and then %d on: got %q, %v", want, size, first,
									off, got, status)
							}
							for i, e := range entries {
								if int(e.Off) != off+i+1 {
									t.Errorf("%q in batches of %d: %s has offset %d", want, size, e.Name, e.Off)
								}
							}
						}
						s.nodes.ReleaseDir(&fuse.ReleaseIn{InHeader: *header(dir), Fh: handle})
					}
				}
			}
		}
	}
}

// naiveOnce is what onceReads decides, by the list of all readers since the last one that lost.
type naiveOnce struct {
	cached int
	large  bool
}

// TestAllOnceReaders tries all sequences of four readers of a file, each of which reads some small and large pieces,
// with small limits.
func TestAllOnceReaders(t *testing.T) {
	l := onceLimits{least: 4, unseen: 16, large: 8, smallPieces: 2, smallBytes: 6, opens: 2}
	// the length of each piece
	readers := []string{"", "1", "11", "15", "4", "5", "555", "6", "7", "8", "8811", "88111111", "9", "1811", "3"}
	sizes := []int64{4, 5, 16, 17}
	for n := range len(readers) * len(readers) * len(readers) {
		for _, size := range sizes {
			o, model := &onceReads{limits: l}, naiveOnce{}
			var trace []string
			for i := range 4 {
				pieces := readers[n/[]int{1, len(readers), len(readers) * len(readers), 1}[i]%len(readers)]
				want := model.open(l, size, pieces)
				direct := o.direct(size)
				trace = append(trace, fmt.Sprintf("%q direct: %v", pieces, direct))
				if direct != want {
					t.Fatalf("files of %d, readers %s: expected %v", size, strings.Join(trace, ", "), want)
				}
				r, off := &onceReader{all: o, direct: direct}, int64(0)
				for _, digit := range pieces {
					r.observe(off, int(digit-'0'))
					off += int64(digit - '0')
				}
			}
		}
	}
}

// open returns whether the file is read past the page cache, and changes the state as its reader does.
func (m *naiveOnce) open(l onceLimits, size int64, pieces string) (direct bool) {
	if m.cached > 0 {
		m.cached--
	} else {
		direct = size > l.least && (size <= l.unseen || m.large)
	}
	if !direct {
		if pieces != "" && int64(pieces[0]-'0') >= l.least {
			m.large = true
		}
		return direct
	}
	small, large, bytes := 0, 0, 0
	for _, digit := range pieces {
		if n := int(digit - '0'); n >= l.large {
			large, m.large = large+1, true
		} else if small, bytes = small+1, bytes+n; small >= int(l.smallPieces)+2*large || bytes >= int(l.smallBytes) {
			m.large, m.cached = false, int(l.opens)
			break
		}
	}
	return direct
}
