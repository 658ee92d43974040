package integration

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// dirent is an entry of a directory as the kernel tells it.
type dirent struct {
	name string
	ino  uint64
	off  int64 // where the next entry begins
	kind byte  // DT_DIR, DT_REG
}

// getdents reads some entries.
func getdents(fd, size int) ([]dirent, error) {
	b := make([]byte, size)
	n, err := unix.Getdents(fd, b)
	if err != nil {
		return nil, err
	}
	var all []dirent
	for b = b[:n]; len(b) > 0; {
		length := binary.NativeEndian.Uint16(b[16:])
		name, _, _ := bytes.Cut(b[19:length], []byte{0})
		all = append(all, dirent{
			name: string(name), ino: binary.NativeEndian.Uint64(b),
			off: int64(binary.NativeEndian.Uint64(b[8:])), kind: b[18],
		})
		b = b[length:]
	}
	return all, nil
}

// listInPieces reads a directory in pieces of random size and goes back now and then
// to an offset that an entry gave: what follows must be the same.
func listInPieces(r *rand.Rand, dir string) ([]string, error) {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	var all []dirent
	for back := 0; ; {
		piece, err := getdents(fd, 64+r.IntN(500))
		if err != nil {
			return nil, err
		}
		all = append(all, piece...)
		if len(piece) > 0 && r.IntN(3) > 0 {
			continue
		}
		if len(piece) == 0 && back >= 2 || len(all) == 0 {
			break
		}
		back++
		keep := r.IntN(len(all))
		tail := slices.Clone(all[keep+1:])
		if _, err := unix.Seek(fd, all[keep].off, unix.SEEK_SET); err != nil {
			return nil, err
		}
		all = all[:keep+1]
		for len(tail) > 0 {
			piece, err := getdents(fd, 1024)
			if err != nil || len(piece) == 0 {
				return nil, fmt.Errorf("behind offset %d: %w, and %d entries less than before", all[keep].off, err, len(tail))
			}
			for _, d := range piece {
				if len(tail) > 0 && d != tail[0] {
					return nil, fmt.Errorf("behind offset %d: %+v, before it was %+v", all[keep].off, d, tail[0])
				}
				tail = tail[min(1, len(tail)):]
			}
			all = append(all, piece...)
		}
	}
	var names []string
	for _, d := range all {
		names = append(names, d.name)
	}
	return names, nil
}

// TestListings compares what directories list with what their entries are, and lists
// them in pieces.
func TestListings(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	root := mount(t, sparse.write(t))
	err := filepath.WalkDir(root, func(dir string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		names, err := listInPieces(r, dir)
		if err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
		if len(names) != len(entries)+2 || names[0] != "." || names[1] != ".." {
			t.Errorf("%s: %d names, %d in pieces", dir, len(entries), len(names))
			return nil
		}
		for i, e := range entries { // both are sorted by name
			if names[i+2] != e.Name() {
				t.Errorf("%s: %q, in pieces %q", dir, e.Name(), names[i+2])
			}
		}
		return compareKinds(t, dir)
	})
	if err != nil {
		t.Error(err)
	}
}

// compareKinds compares the kind and inode of each entry, . and .. too, with what stat
// says.
func compareKinds(t *testing.T, dir string) error {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	for {
		entries, err := getdents(fd, 1<<16)
		if err != nil || len(entries) == 0 {
			return err
		}
		for _, d := range entries {
			var st unix.Stat_t
			if err := unix.Fstatat(fd, d.name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
				return fmt.Errorf("%s/%s: %w", dir, d.name, err)
			}
			isRoot := d.name == ".." && isMounted(dir) // its parent is of another file system
			if !isRoot && (st.Ino != d.ino || byte(st.Mode>>12) != d.kind) {
				t.Errorf("%s/%s: listed as inode %d of kind %d, is %d of kind %d", dir, d.name, d.ino, d.kind, st.Ino, st.Mode>>12)
			}
		}
	}
}
