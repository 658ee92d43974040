package check_test

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/wkwfs/wkwfs/internal/jobs/batch"
	"github.com/wkwfs/wkwfs/internal/jobs/check"
	"github.com/wkwfs/wkwfs/internal/tests/refdata"
	"github.com/wkwfs/wkwfs/internal/tests/voxeltest"
	"github.com/wkwfs/wkwfs/precomputed"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/webknossos"
	"github.com/wkwfs/wkwfs/wkw"
)

// runPart checks a part of a source with the findings as sorted lines.
func runPart(t *testing.T, root volume.Root, part batch.Part) ([]string, *check.Stats) {
	t.Helper()
	var lines []string
	var stats check.Stats
	err := check.Run(t.Context(), root, check.Options{Jobs: 2, Part: part, Count: true, Stats: &stats,
		Report: func(f check.Finding) {
			lines = append(lines, fmt.Sprintf("%s %s %v %v: %v", f.Severity, f.Path, f.Cube, f.Block, f.Err))
		}})
	if err != nil {
		t.Fatal(err)
	}
	if found := stats.Found.Load(); !stats.Counted.Load() || found != stats.Cubes.Load() {
		t.Errorf("part %v: %d cubes of %d", part, stats.Cubes.Load(), found)
	}
	slices.Sort(lines)
	return lines, &stats
}

// TestPartsOfCheck: the parts of a check find what a check of the whole source finds, each fault once, and each part
// makes the same plan.
func TestPartsOfCheck(t *testing.T) {
	if testing.Short() {
		t.Skip("not in short runs: it takes long, and its goroutines are those of other tests")
	}
	for _, c := range []struct{ dir, name string }{
		{"../../../testdata/damaged", "."},
		{"../../../testdata/damaged/color", "."},
		{"../../../testdata/damaged/color/1", "."},
		{"../../../testdata/damaged/color/1/z0/y0", "x6.wkw"},
		{refdata.Dir(t, "wkw/sparse"), "."},
		{refdata.Dir(t, "forms/annotation"), "."},
	} {
		root, err := webknossos.Recognise(os.DirFS(c.dir), c.name, webknossos.Options{})
		if err != nil {
			t.Fatal(err)
		}
		want, whole := runPart(t, root, batch.Part{})
		if whole.Plan != "" {
			t.Errorf("%s: a check that is not divided has the plan %s", c.dir, whole.Plan)
		}
		for _, n := range []int{1, 2, 3, 40} {
			var got []string
			var cubes, blocks, bytes int64
			plans := map[string]bool{}
			for i := range n {
				lines, stats := runPart(t, root, batch.Part{I: i + 1, N: n})
				got = append(got, lines...)
				cubes += stats.Cubes.Load()
				blocks += stats.Blocks.Load()
				bytes += stats.Bytes.Load()
				plans[stats.Plan] = true
			}
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("%s in %d parts: got\n%s\nexpected\n%s", c.dir, n, strings.Join(got, "\n"),
					strings.Join(want, "\n"))
			}
			if cubes != whole.Cubes.Load() || blocks != whole.Blocks.Load() || bytes != whole.Bytes.Load() {
				t.Errorf("%s in %d parts: %d cubes, %d blocks, %d bytes", c.dir, n, cubes, blocks, bytes)
			}
			if len(plans) != 1 || plans[""] {
				t.Errorf("%s in %d parts: plans %v", c.dir, n, plans)
			}
		}
	}
}

// TestPartsOfShards: all chunks of a shard are in one part, so parts do not read the same file.
func TestPartsOfShards(t *testing.T) {
	if testing.Short() {
		t.Skip("not in short runs: it takes long, and its goroutines are those of other tests")
	}
	for name, shards := range map[string]int{"sh_cseg": 5, "sh_flat_grid": 3, "sh_asymmetric": 16, "sh_one": 1} {
		root, err := precomputed.Recognise(os.DirFS(refdata.Dir(t, "precomputed", name)), ".", precomputed.Options{})
		if err != nil {
			t.Fatal(err)
		}
		_, whole := runPart(t, root, batch.Part{})
		const n = 60
		var chunks int64
		parts := 0 // that are not empty
		for i := range n {
			if _, stats := runPart(t, root, batch.Part{I: i + 1, N: n}); stats.Cubes.Load() > 0 {
				parts++
				chunks += stats.Cubes.Load()
			}
		}
		if want := whole.Cubes.Load(); parts > shards || chunks != want || want <= int64(shards) && shards > 1 {
			t.Errorf("%s: %d parts with %d of %d chunks, in %d shards", name, parts, chunks, want, shards)
		}
	}
}

// countingFS counts how often each directory is listed. It says that a name does not exist when that was opened once.
type countingFS struct {
	fs.FS
	removed string

	mu     sync.Mutex
	opened int            // how often removed was
	listed map[string]int // by the directory
}

func (c *countingFS) Open(name string) (fs.File, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if name == c.removed {
		if c.opened++; c.opened > 1 {
			return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		}
	}
	f, err := c.FS.Open(name)
	if d, ok := f.(fs.ReadDirFile); ok && !strings.HasSuffix(name, ".wkw") {
		return &countingDir{ReadDirFile: d, listed: func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.listed[name]++
		}}, err
	}
	return f, err
}

// countingDir calls listed when it is first read.
type countingDir struct {
	fs.ReadDirFile
	listed func()
	once   sync.Once
}

func (d *countingDir) ReadDir(n int) ([]fs.DirEntry, error) {
	d.once.Do(d.listed)
	return d.ReadDirFile.ReadDir(n)
}

// TestPartListsOnce: a part lists a directory of cubes once, not for the plan, the bounding box and the check each. The
// first part lists it once more, for files that no mag reads. A cube that was removed since the plan was made is no
// fault.
func TestPartListsOnce(t *testing.T) {
	dir := t.TempDir()
	h := wkw.Header{CubeBlocks: 1, BlockSide: 1, BlockType: wkw.Raw, Type: volume.Uint8, Channels: 1}
	if err := wkw.WriteHeader(filepath.Join(dir, "header.wkw"), h); err != nil {
		t.Fatal(err)
	}
	h.DataOffset = wkw.HeaderSize
	b, err := h.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	for i := range 300 {
		name := filepath.Join(dir, fmt.Sprintf("z%d/y%d/x%d.wkw", i/100, i/10%10, i%10))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, append(b, 1), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	const removed = "z1/y2/x3.wkw"
	var cubes int64
	for i := range 3 {
		c := &countingFS{FS: os.DirFS(dir), removed: removed, listed: map[string]int{}}
		root, err := webknossos.Recognise(c, ".", webknossos.Options{})
		if err != nil {
			t.Fatal(err)
		}
		before := maps.Clone(c.listed)
		lines, stats := runPart(t, root, batch.Part{I: i + 1, N: 3})
		cubes += stats.Cubes.Load()
		if len(lines) > 0 {
			t.Errorf("part %d: %q", i+1, lines)
		}
		for name, n := range c.listed {
			want := 1
			if i == 0 {
				want = 2
			}
			if n -= before[name]; strings.Contains(name, "/y") && n != want {
				t.Errorf("part %d lists %s %d times", i+1, name, n)
			}
		}
	}
	if cubes != 300 {
		t.Errorf("%d cubes, want 300", cubes)
	}
}

// TestPartsOfManyCubes: parts of a mag with more cubes than all parts keep in memory have each cube once.
func TestPartsOfManyCubes(t *testing.T) {
	n := voxeltest.Large(70_000)
	root, err := webknossos.Recognise(tinyCubes(t, n), ".", webknossos.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var cubes int64
	for i := range 3 {
		lines, stats := runPart(t, root, batch.Part{I: i + 1, N: 3})
		if len(lines) > 0 {
			t.Errorf("part %d: %.10q", i+1, lines[0])
		}
		cubes += stats.Cubes.Load()
	}
	if cubes != int64(n) {
		t.Errorf("%d cubes, want %d", cubes, n)
	}
}
