package nfs

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/wkwfs/wkwfs/internal/small/lru"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

// maxHandle is NFS3_FHSIZE: the largest size of a handle in bytes (2.4).
const maxHandle = 64

// The first byte of a handle has the version of its layout, and the kind of the entry.
//
//	directory: kindDir, packed path
//	file:      kindFile, 8 bytes of the version of the content, packed path
const (
	kindDir  = 0x10
	kindFile = 0x11
)

const (
	versionSize = 8
	maxPacked   = maxHandle - 1 - versionSize // of a path, in bytes
)

// handle identifies an entry, a file in one version.
type handle struct {
	path    string
	dir     bool
	version [versionSize]byte // of a file
}

// handleOf returns the handle of the entry that info describes.
func handleOf(name string, info fs.FileInfo) handle {
	h := handle{path: name, dir: info.IsDir()}
	if !h.dir {
		v := vfs.VersionOf(info)
		h.version = [versionSize]byte(v[:])
	}
	return h
}

// is reports whether info describes the same kind of entry in the same version.
func (h handle) is(info fs.FileInfo) bool { return handleOf(h.path, info) == h }

// handles encodes handles, and finds their entries.
//
// A path that is too long, even packed, is shortened: its longest elements are replaced by hashes. Such an element is
// found again in a listing of its directory. Elements that are in no listing, such as boxes, are found while their path
// is remembered.
type handles struct {
	fsys fs.FS

	mu    sync.Mutex
	paths *lru.Cache[string, string] // by packed path; only those with hashes
}

const (
	pathsBudget  = 16 << 20 // of remembered paths, in bytes
	pathOverhead = 200      // memory of a remembered path without its bytes
)

func newHandles(fsys fs.FS) *handles {
	return &handles{fsys: fsys, paths: lru.New[string, string](pathsBudget)}
}

// encode returns the bytes of a handle, at most [maxHandle].
func (hs *handles) encode(h handle) []byte {
	b := append(make([]byte, 0, maxHandle), kindDir)
	if !h.dir {
		b[0] = kindFile
		b = append(b, h.version[:]...)
	}
	packed, hashed := pack(h.path)
	if hashed {
		hs.remember(string(packed), h.path)
	}
	return append(b, packed...)
}

func (hs *handles) remember(packed, name string) {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	if _, ok := hs.paths.Get(packed); !ok {
		hs.paths.Put(packed, name, int64(len(packed)+len(name)+pathOverhead))
	}
}

func (hs *handles) remembered(packed string) (string, bool) {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	return hs.paths.Get(packed)
}

// decode parses a handle. The error is statusBadHandle for bytes that encode did not make, and statusStale if the path
// cannot be found again. reach fails if the caller may not search a directory above an entry. Then decode may fail with
// its error.
func (hs *handles) decode(ctx context.Context, b []byte, reach func(name string) error) (h handle, err error) {
	switch {
	case len(b) >= 1 && b[0] == kindDir:
		h.dir, b = true, b[1:]
	case len(b) >= 1+versionSize && b[0] == kindFile:
		h.version, b = [versionSize]byte(b[1:]), b[1+versionSize:]
	default:
		return h, statusBadHandle
	}
	elements, err := unpack(b)
	if err != nil {
		return h, err
	}
	if h.path, err = hs.find(ctx, string(b), elements, reach); err != nil {
		return h, err
	}
	if !fs.ValidPath(h.path) || len(h.path) > maxPath {
		return h, statusBadHandle
	}
	return h, nil
}

// find returns the path of elements. It looks up hashes, but only where the caller may look: what it returns does not
// tell whether there are entries in other directories.
func (hs *handles) find(ctx context.Context, packed string, elements []element, reach func(name string) error) (string,
	error) {
	if !slices.ContainsFunc(elements, element.isHash) {
		names := make([]string, len(elements))
		for i, e := range elements {
			names[i] = e.name
		}
		return cmp.Or(strings.Join(names, "/"), "."), nil
	}
	if name, ok := hs.remembered(packed); ok {
		if isOneHash := strings.Count(name, "/") >= len(elements); isOneHash && reach(name) != nil {
			return "", statusStale // as if it were not remembered
		}
		return name, nil
	}
	dir := "."
	for _, e := range elements {
		name := e.name
		if e.isHash() {
			err := reach(path.Join(dir, "entry"))
			if err == nil {
				name, err = hs.search(ctx, dir, e.hash)
			}
			if err != nil {
				return "", err
			}
		}
		dir = path.Join(dir, name)
		if !fs.ValidPath(dir) {
			return "", statusBadHandle
		}
	}
	hs.remember(packed, dir)
	return dir, nil
}

// search finds the entry of a directory whose name has a hash.
func (hs *handles) search(ctx context.Context, dir, hash string) (string, error) {
	for batch, err := range vfs.ListDir(hs.fsys, dir) {
		for _, e := range batch {
			if hashOf(e.Name()) == hash {
				return e.Name(), nil
			}
		}
		var kind *vfs.KindError
		switch {
		case errors.As(err, &kind), errors.Is(err, fs.ErrNotExist):
			return "", statusStale
		case err != nil:
			return "", err
		case ctx.Err() != nil:
			return "", ctx.Err()
		}
	}
	return "", statusStale
}

// hashSize is the size of the hash of a name, in bytes.
const hashSize = 8

func hashOf(name string) string {
	sum := sha256.Sum256([]byte(name))
	return string(sum[:hashSize])
}
