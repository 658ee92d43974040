package precomputed

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"github.com/wkwfs/wkwfs/internal/arrays/lattice"
	"github.com/wkwfs/wkwfs/internal/stores/store"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// failingShard is a directory in which one shard cannot be opened for a time.
type failingShard struct {
	*store.Dir
	name  string
	fails bool
}

func (f *failingShard) Open(name string) (fs.File, error) {
	if f.fails && strings.HasSuffix(name, f.name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.EIO}
	}
	return f.Dir.Open(name)
}

// TestListingAfterPassingError: while a shard cannot be read, all of its chunks are listed. When it can be read again,
// the listing is that of its index, although no file has changed.
func TestListingAfterPassingError(t *testing.T) {
	absent := func(c volume.Vec) bool { return c[0] == 1 }
	for _, damaged := range []bool{false, true} {
		dir, s := writeShards(t, identitySpec, absent)
		if damaged { // its error comes first
			writeFile(t, dir, "8_8_30/0.shard", []byte{1})
		}
		root, err := store.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		intact, _ := newShards(root, "8_8_30", s).Positions(true)
		source := &failingShard{root, "1.shard", true}
		list := newShards(source, "8_8_30", s)
		during, _ := list.Positions(true)
		for c := range (volume.Box{Max: s.lattice.Size}).All() {
			if in1 := s.sharding.locate(s.lattice.Morton(c)).shard == 1; during.Contains(c) != (in1 ||
				intact.Contains(c)) {
				t.Errorf("damaged: %v: while shard 1 cannot be read, %v is listed: %v", damaged, c, during.Contains(c))
			}
		}
		source.fails = false
		if after, err := list.Positions(true); err != nil || !reflect.DeepEqual(after, intact) {
			t.Errorf("damaged: %v: after the error: got %v, error %v, expected %v", damaged, after, err, intact)
		}
	}
}

// TestDescribeShards: the attributes of the chunks of a row are those of each chunk, also if indexes are not kept and a
// shard is damaged.
func TestDescribeShards(t *testing.T) {
	for _, spec := range []string{identitySpec, murmurSpec} {
		dir, s := writeShards(t, spec, func(c volume.Vec) bool { return c[0] == 1 })
		damaged := s.sharding.locate(s.lattice.Morton(volume.Vec{}))
		name := filepath.Join(dir, "8_8_30", s.sharding.stem(damaged.shard)+shardSuffix)
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		le.PutUint64(b[slotBytes*damaged.minishard:], 1<<40)
		writeFile(t, dir, "8_8_30/"+filepath.Base(name), b)
		root, err := store.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		chunks := newShards(root, "8_8_30", s)
		chunks.indexes = lattice.NewIndexes[indexKey, entry](1)
		m := lattice.NewCatalogue(chunks, s.lattice, s.key, nil)
		described, failed := 0, 0
		for row := range (volume.Box{Max: volume.Vec{1, s.lattice.Size[1], s.lattice.Size[2]}}).All() {
			for entries := range m.DescribeCubes(row[2], row[1]) {
				for _, e := range entries {
					want, wantErr := m.StatCubes(row[2], row[1], e.N)
					if fmt.Sprint(e.Err) != fmt.Sprint(wantErr) || wantErr == nil && (e.Info.Name() != want.Name() ||
						vfs.VersionOf(e.Info) != vfs.VersionOf(want) || vfs.StoredOf(e.Info) != vfs.StoredOf(want)) {
						t.Errorf("%s: chunk %d of row %v: got %v, error %v, expected %v, error %v", spec, e.N, row,
							e.Info, e.Err, want, wantErr)
					}
					if described++; e.Err != nil {
						failed++
					}
				}
			}
		}
		if failed == 0 || failed == described {
			t.Errorf("%s: %d of %d chunks cannot be described, expected some", spec, failed, described)
		}
	}
}
