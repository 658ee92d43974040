package relabel

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// memory is a cube in memory: each block has values of its own, and odd ones on x are absent.
type memory struct {
	grid   volume.Grid
	blocks map[volume.Vec][]byte
}

func (f *memory) Grid() volume.Grid    { return f.grid }
func (f *memory) Info() fs.FileInfo    { return nil }
func (f *memory) Version() vfs.Version { return vfs.Version{} }
func (f *memory) Close() error         { return nil }

func (f *memory) Fill(_ context.Context, blocks []volume.Block, memory func(volume.Vec) []byte) {
	for i := range blocks {
		if b := f.blocks[blocks[i].At]; b != nil {
			blocks[i].Voxels = memory(blocks[i].At)
			copy(blocks[i].Voxels, b)
		}
	}
}

// numpy returns an .npy file.
func numpy(descr string, shape string, values []uint64, size int, big bool) []byte {
	head := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, shape)
	b := binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(head)+1))
	b = append(append(b, head...), '\n')
	for _, v := range values {
		word := binary.BigEndian.AppendUint64(nil, v)[8-size:]
		for i := range word {
			if big {
				b = append(b, word[i])
			} else {
				b = append(b, word[size-1-i])
			}
		}
	}
	return b
}

func file(name string, b []byte) fstest.MapFS {
	return fstest.MapFS{name: &fstest.MapFile{Data: b, ModTime: time.Unix(1, 0)}}
}

// TestRandom maps random voxels of all types through random tables of all kinds, and compares them with a model.
func TestRandom(t *testing.T) {
	for seed := range uint64(120) {
		r := rand.New(rand.NewPCG(seed, 2))
		kind := []volume.Type{volume.Uint8, volume.Uint16, volume.Uint32, volume.Uint64}[r.IntN(4)]
		limit := uint64(1) << (4 * kind.Size())
		if kind.Size() == 1 {
			limit = 256
		}
		wide := r.IntN(2) == 0
		values := make([]uint64, 1+r.IntN(70_000))
		for i := range values[1:] {
			values[i+1] = r.Uint64N(limit)
			if wide {
				values[i+1] = r.Uint64()
			}
		}
		keep, pairs := r.IntN(2) == 0, r.IntN(3) == 0
		table := OpenNPY("t", file("t.npy", numpy(">u8", fmt.Sprintf("%d,", len(values)), values, 8, true)), "t.npy")
		if pairs {
			var b strings.Builder
			b.WriteString("old,new\n# more\n\n")
			for i, v := range values[:min(len(values), 300)] {
				fmt.Fprintf(&b, "%d%s%d\n", i, []string{",", ";", " ", "\t"}[i%4], v)
			}
			values = values[:min(len(values), 300)]
			table, keep = OpenCSV("t", file("t.csv", []byte(b.String())), "t.csv"), true
		}
		table.Keep = keep
		state, err := table.now()
		if err != nil {
			t.Fatal(err)
		}
		result := kind
		if !fits(state.most, kind) {
			result = volume.Uint64
		}
		f := &memory{grid: volume.Grid{Type: kind, Channels: 1, Size: volume.Vec{6, 3, 5}, Block: volume.Vec{3, 3, 5}},
			blocks: map[volume.Vec][]byte{}}
		var want []byte
		stored := make([]byte, f.grid.BlockBytes())
		last := uint64(0)
		for i := 0; i < len(stored); i += kind.Size() {
			if r.IntN(2) == 0 {
				last = r.Uint64N(uint64(len(values))*5/4 + 1)
			}
			if last > limit-1 || kind.Size() == 8 && r.IntN(20) == 0 {
				last = r.Uint64N(limit)
			}
			put(stored[i:], kind.Size(), last)
			to := uint64(0)
			switch {
			case last < uint64(len(values)):
				to = values[last]
			case keep:
				to = last
			}
			want = append(want, make([]byte, result.Size())...)
			put(want[len(want)-result.Size():], result.Size(), to)
		}
		f.blocks[volume.Vec{}] = stored
		c := &cube{f, table, state, result}
		got, err := volume.ReadBlock(t.Context(), c, volume.Vec{})
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("seed %d, %v as %v: %v", seed, kind, result, err)
		}
		if got, err := volume.ReadBlock(t.Context(), c, volume.Vec{1}); err != nil || got != nil {
			t.Fatalf("an absent block: %d bytes, %v", len(got), err)
		}
	}
}

// TestBadTables: each fault is an error that names the file and the place.
func TestBadTables(t *testing.T) {
	for _, c := range []struct {
		name, content, want string
	}{
		{"t.csv", "1,2\n3,x\n", `t.csv: line 2: expected two ids, found "3,x"`},
		{"t.csv", "1,2\n\n1,3\n", "t.csv: line 3: expected 2 for id 1, as before, found 3"},
		{"t.csv", "1,2,3\n", "t.csv: line 1: expected two ids"},
		{"t.csv", "1,-2\n", "t.csv: line 1: expected two ids"},
		{"t.csv", "1,99999999999999999999\n", "t.csv: line 1: expected two ids"},
		{"t.npy", "text", "t.npy: magic: expected an .npy file"},
		{"t.npy", string(numpy("<f8", "1,", []uint64{1}, 8, false)), `t.npy: descr: expected an integer, found "<f8"`},
		{"t.npy", string(numpy("<u8", "1, 2", []uint64{1, 2}, 8, false)), "t.npy: shape: expected one axis"},
		{"t.npy", string(numpy("<u8", "9,", []uint64{1, 2}, 8, false)), "t.npy: size: expected"},
		{"t.npy", string(numpy("<i4", "2,", []uint64{0, 1<<32 - 5}, 4, false)), "found a negative number"},
		{"t.npy", string(numpy("<u8", "99999999999999999,", nil, 8, false)), "t.npy: shape: expected less than 2^48"},
		{"t.json", `{"classes":[[1,2.5]]}`, "t.json: class 0: expected a list of ids"},
		{"t.json", `{"classes":[[1]],"parent":"../x"}`, "t.json: parent: expected the name of a mapping"},
		{"t.json", `{}`, "t.json: classes: expected a list of lists of ids, found none"},
	} {
		fsys := file(c.name, []byte(c.content))
		table := OpenNPY("t", fsys, c.name)
		switch {
		case strings.HasSuffix(c.name, ".csv"):
			table = OpenCSV("t", fsys, c.name)
		case strings.HasSuffix(c.name, ".json"):
			table = OpenJSON("t", fsys, ".")
		}
		if err := table.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, expected %q", err, c.want)
		}
	}
}

// TestBackground: a table that maps 0 to another id is an error of all blocks.
func TestBackground(t *testing.T) {
	table := OpenCSV("t", file("t.csv", []byte("0,5\n")), "t.csv")
	state, err := table.now()
	if err != nil {
		t.Fatal(err)
	}
	f := &memory{grid: volume.Grid{Type: volume.Uint8, Channels: 1, Size: volume.Cube(1), Block: volume.Cube(1)}}
	if _, err := volume.ReadBlock(t.Context(), &cube{f, table, state, volume.Uint8}, volume.Vec{}); err == nil ||
		!strings.Contains(err.Error(), "the background") {
		t.Error(err)
	}
}

// TestChanges: a file that is replaced is another table; a cube that has the old one does not read pages of the new
// one.
func TestChanges(t *testing.T) {
	fsys := file("t.npy", numpy("<u8", "3,", []uint64{0, 7, 8}, 8, false))
	table := OpenNPY("t", fsys, "t.npy")
	old, err := table.now()
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := table.read(old); again != old {
		t.Error("a file that has not changed is another table")
	}
	fsys["t.npy"] = &fstest.MapFile{Data: numpy("<u8", "3,", []uint64{0, 5, 6}, 8, false), ModTime: time.Unix(2, 0)}
	fresh, err := table.read(old)
	if err != nil || fresh.version == old.version {
		t.Fatal("a new file has the old version", err)
	}
	if got, err := table.cursor(t.Context(), fresh).find(1); got != 5 || err != nil {
		t.Error(got, err)
	}
	for i := range old.pages {
		old.pages[i].Store(nil) // as if it were evicted
	}
	if _, err := table.cursor(t.Context(), old).find(1); err == nil ||
		!strings.Contains(err.Error(), vfs.ErrChanged.Error()) {
		t.Error("a page of a new file in an old table:", err)
	}
}

// TestPages: many readers of a table that is larger than its cache get the right ids, and the cache stays within its
// limit.
func TestPages(t *testing.T) {
	small := &pageCache{most: 40 * 8}
	defer func(usual *pageCache) { allPages = usual }(allPages)
	allPages = small
	s, err := newList(vfs.Version{}, unknownMost, 1000, 10, func(_ context.Context, p uint64) ([]uint64, error) {
		ids := make([]uint64, 10)
		for i := range ids {
			ids[i] = (p*10 + uint64(i)) * 3
		}
		return ids, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	table := &Table{Name: "t"}
	var wait sync.WaitGroup
	for seed := range uint64(4) {
		wait.Go(func() {
			r := rand.New(rand.NewPCG(seed, 3))
			c := table.cursor(context.Background(), s)
			for range 2000 {
				id := r.Uint64N(1000)
				if got, err := c.find(id); got != id*3 || err != nil {
					t.Error(id, got, err)
				}
			}
		})
	}
	wait.Wait()
	held := 0
	for i := range s.pages {
		if p := s.pages[i].Load(); p != nil {
			held += 8 * len(p.ids)
		}
	}
	if held > small.most || small.bytes > small.most {
		t.Errorf("%d bytes are held, %d counted, expected at most %d", held, small.bytes, small.most)
	}
	if _, err := newList(vfs.Version{}, 0, 1<<40, 1, nil); err == nil {
		t.Error("a table of too many pages")
	}
}
