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

// dirent is an entry of a directory, as getdents returns it.
type dirent struct {
	name string
	ino  uint64
	off  int64 // offset of the next entry
	kind byte  // DT_DIR, DT_REG
}

// getdents reads the next entries into a buffer of size bytes.
func getdents(fd, size int) ([]dirent, error) {
	b := make([]byte, size)
	n, err := unix.Getdents(fd, b)
	if err != nil {
		return nil, err
	}
	var entries []dirent
	for b = b[:n]; len(b) > 0; {
		length := binary.NativeEndian.Uint16(b[16:])
		name, _, _ := bytes.Cut(b[19:length], []byte{0})
		entries = append(entries, dirent{
			name: string(name), ino: binary.NativeEndian.Uint64(b),
			off: int64(binary.NativeEndian.Uint64(b[8:])), kind: b[18],
		})
		b = b[length:]
	}
	return entries, nil
}

// listInPieces reads a directory in pieces of random size. Now and then it seeks back to the offset of an
// entry. The entries after that offset have to be the same as before.
func listInPieces(r *rand.Rand, dir string) ([]string, error) {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	var entries []dirent
	for returns := 0; ; {
		piece, err := getdents(fd, 64+r.IntN(500))
		if err != nil {
			return nil, err
		}
		entries = append(entries, piece...)
		if len(piece) > 0 && r.IntN(3) > 0 {
			continue
		}
		if len(piece) == 0 && returns >= 2 || len(entries) == 0 {
			break
		}
		returns++
		keep := r.IntN(len(entries))
		tail := slices.Clone(entries[keep+1:])
		if _, err := unix.Seek(fd, entries[keep].off, unix.SEEK_SET); err != nil {
			return nil, err
		}
		entries = entries[:keep+1]
		for len(tail) > 0 {
			piece, err := getdents(fd, 1024)
			if err != nil || len(piece) == 0 {
				return nil, fmt.Errorf("after offset %d: %w, and %d entries of before are missing", entries[keep].off,
					err, len(tail))
			}
			for _, d := range piece {
				if len(tail) > 0 && d != tail[0] {
					return nil, fmt.Errorf("after offset %d: got %+v, before %+v", entries[keep].off, d, tail[0])
				}
				tail = tail[min(1, len(tail)):]
			}
			entries = append(entries, piece...)
		}
	}
	var names []string
	for _, d := range entries {
		names = append(names, d.name)
	}
	return names, nil
}

// TestListings lists each directory at once and in pieces, and compares the entries with what stat returns for
// them.
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
			t.Errorf("%s: %d names at once, %d in pieces", dir, len(entries), len(names))
			return nil
		}
		for i, e := range entries { // both are sorted by name
			if names[i+2] != e.Name() {
				t.Errorf("%s: %q at once, %q in pieces", dir, e.Name(), names[i+2])
			}
		}
		return compareKinds(t, dir)
	})
	if err != nil {
		t.Error(err)
	}
}

// compareKinds compares kind and inode of each entry, including . and .., with what stat returns.
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
			isRoot := d.name == ".." && isMounted(dir) // the parent is in another file system
			if !isRoot && (st.Ino != d.ino || byte(st.Mode>>12) != d.kind) {
				t.Errorf("%s/%s: listed with inode %d and kind %d, stat returns %d and %d", dir, d.name, d.ino, d.kind,
					st.Ino, st.Mode>>12)
			}
		}
	}
}
