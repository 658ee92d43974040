package integration

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/wkwfs/wkwfs/integration/torture"
)

// lyingTrial mounts a dataset from a server that lies about one of its layers. Each read has the bytes of one version
// of the file, or an error in time. The other layer reads. The server of the mount stays within its memory.
var lyingTrial = torture.New("lying", newLyingCase, runLying)

type lyingCase struct {
	S3      bool         `json:"s3,omitempty"`
	Index   string       `json:"index"` // of the web server: html, json or none
	Zarr3   bool         `json:"zarr3,omitempty"`
	Raw     bool         `json:"raw,omitempty"`
	Size    int          `json:"size"`             // voxels on an axis
	Change  bool         `json:"change,omitempty"` // the content changes with each step
	Content torture.Seed `json:"content"`
	Choices torture.Seed `json:"choices"` // of the server: which answers are lies
	Steps   []lyingStep  `json:"steps"`
}

// lyingStep are lies, and reads while the server tells them.
type lyingStep struct {
	Lies  []lie       `json:"lies"`
	Reads []lyingRead `json:"reads"`
}

// lyingRead reads a part of a file, or lists a directory.
type lyingRead struct {
	File   string `json:"file"`             // one of lyingFiles
	From   int    `json:"from"`             // thousandths of the file
	Length int    `json:"length"`           // bytes
	Before bool   `json:"before,omitempty"` // it is opened, and its start is read, before the server lies
}

// lyingFiles are below the mag of the layer. Those that end with a slash are directories.
var lyingFiles = []string{
	"volume.raw", "volume.raw", "volume.npy", "volume.tif", "volume.json", "slices/z0000003.tif",
	"box/1-20_2-9_0-7.raw", "z0/y0/x0.raw", "z0/y0/x0.blocks/z0/y0/x0.raw",
	"", "z0/", "slices/", "../ome.zarr/", "../precomputed/info",
}

func newLyingCase(r *rand.Rand) lyingCase {
	c := lyingCase{
		S3: r.IntN(4) == 0, Index: randomOf(r, []string{"html", "json", ""}), Zarr3: r.IntN(4) == 0, Raw: r.IntN(4) > 0,
		Size:   20 + r.IntN(60),
		Change: r.IntN(4) == 0, Content: torture.Seed(r.Uint64()), Choices: torture.Seed(r.Uint64()),
	}
	kinds := slices.Sorted(maps.Keys(lies))
	if c.Change {
		kinds = consistent
	}
	// they give bytes that could be voxels
	kinds = slices.Concat(kinds, slices.Repeat([]string{"shift", "gzip", "whole", "endless"}, 4))
	for range 1 + r.IntN(3) {
		var s lyingStep
		for range 1 + r.IntN(2) {
			s.Lies = append(s.Lies, lie{
				Kind: randomOf(r, kinds), Path: randomOf(r, []string{"", "/v/1/", "x0.wkw", "x0.wkw", "/c/", "/c/",
					"zarr.json", "header.wkw"}), OneIn: randomOf(r, []int{1, 1, 2, 3, 10}),
			})
		}
		for range 1 + r.IntN(6) {
			s.Reads = append(s.Reads, lyingRead{File: randomOf(r, lyingFiles), From: r.IntN(1000),
				Length: randomOf(r, []int{1, 100, 4096, 1 << 17, 1 << 20}), Before: r.IntN(2) == 0})
		}
		c.Steps = append(c.Steps, s)
	}
	return c
}

func (c lyingCase) valid() bool {
	if c.Size < 20 || c.Size > 80 || !slices.Contains([]string{"html", "json", ""}, c.Index) {
		return false
	}
	for _, s := range c.Steps {
		for _, l := range s.Lies {
			if lies[l.Kind] == nil || l.OneIn < 1 || c.Change && !slices.Contains(consistent, l.Kind) {
				return false
			}
		}
		for _, r := range s.Reads {
			if !slices.Contains(lyingFiles, r.File) || r.From < 0 || r.From >= 1000 || r.Length < 1 ||
				r.Length > 1<<20 {
				return false
			}
		}
	}
	return true
}

func runLying(t testing.TB, c lyingCase) {
	if !c.valid() {
		t.Skip("there is no such lie, or no such file")
	}
	sources := []string{c.write(t, 0)}
	if c.Change {
		sources = append(sources, c.write(t, 1))
	}
	var local []string // mounts of the sources
	for _, source := range sources {
		local = append(local, mountServer(t, source).dir)
	}
	s := newLyingServer(t, c.Index, uint64(c.Choices))
	s.show(sources[0])
	source, args := s.URL, []string{"--timeout", "1s"}
	if c.S3 {
		source, args = "s3://bucket", append(args, "--endpoint", s.URL, "--anonymous")
	}
	m := lyingMount{t, c, mountWatched(t, source, 4<<20, args...), local, true}
	for i, step := range c.Steps {
		var failed error
		m.first = i == 0
		m.w.request(t, fmt.Sprintf("the reads of step %d", i), func() {
			failed = m.readAll(step.Reads, func() {
				s.tell(step.Lies)
				if c.Change {
					s.show(sources[(i+1)%len(sources)])
				}
			})
		})
		s.tell(nil)
		m.w.checkLog(t)
		if failed != nil {
			t.Fatalf("step %d: %v", i, failed)
		}
		// A request that had no answer makes others fail for a second.
		eventually(t, "the other layer reads",
			func() bool { return m.read("w", lyingRead{File: "volume.raw", Length: 1 << 20}, nil, true) == nil })
	}
}

// write writes the dataset: the layer v, which has other voxels in each version, and w.
func (c lyingCase) write(t testing.TB, version int) (source string) {
	source = tempDir(t)
	for i, layer := range []string{"v", "w"} {
		g := geometryCase{
			VoxelType: 1, Channels: 1, Size: [3]int{c.Size, c.Size / 2, c.Size / 3}, Block: 16, Cube: 8, Run: 1,
			Content: c.Content + torture.Seed(i+10*version*(1-i)),
		}
		args := []string{
			"import", "--quiet", writeFile(t, filepath.Join(tempDir(t), "voxels.raw"), g.voxels()), source, "--layer",
			layer, "--category", "color", "--voxel-size", "10,10,30",
			"--shape", fmt.Sprintf("%d,%d,%d", g.Size[0], g.Size[1], g.Size[2]), "--dtype", "uint8", "--block", "16",
			"--cube", "128",
		}
		switch {
		case c.Zarr3:
			args = append(args, "--format", "zarr3")
		case c.Raw:
			args = append(args, "--compression", "raw")
		}
		mustRun(t, args...)
	}
	return source
}

// lyingMount is the mount of a server that lies.
type lyingMount struct {
	t     testing.TB
	c     lyingCase
	w     *watched
	local []string // mounts of the same data
	first bool     // what is read before the server lies is of the first version. Later, an older one may be believed
}

// readAll runs all reads at the same time, after lie. It returns an error for wrong bytes.
func (m lyingMount) readAll(reads []lyingRead, lie func()) error {
	failed := make([]error, len(reads))
	opened := make([]*os.File, len(reads))
	for i, r := range reads {
		if r.Before && !r.isDir() {
			opened[i] = openAndRead(m.path("v", r))
		}
	}
	lie()
	var group sync.WaitGroup
	for i, r := range reads {
		group.Go(func() { failed[i] = m.read("v", r, opened[i], false) })
	}
	group.Wait()
	return errors.Join(failed...)
}

// read reads, and compares the bytes with those of the files on disk. An error of the read is one only if it must
// succeed.
func (m lyingMount) read(layer string, r lyingRead, opened *os.File, must bool) error {
	name := m.path(layer, r)
	if r.isDir() {
		_, err := os.ReadDir(name) // which entries there are is what the server says
		if must {
			return err
		}
		return nil
	}
	got, off, err := r.read(name, opened)
	if err != nil {
		if must {
			return err
		}
		return nil
	}
	versions := m.local
	if opened != nil && m.first {
		versions = m.local[:1]
	}
	for _, dir := range versions {
		whole, err := os.ReadFile(filepath.Join(dir, layer, "1", r.File))
		if err != nil {
			continue
		}
		if want := whole[min(off, len(whole)):min(off+r.Length, len(whole))]; bytes.Equal(got, want) {
			return nil
		}
	}
	return fmt.Errorf("%s: %d bytes at byte %d are those of no version", name, len(got), off)
}

func (m lyingMount) path(layer string, r lyingRead) string {
	return filepath.Join(m.w.dir, layer, "1", r.File)
}

func (r lyingRead) isDir() bool { return r.File == "" || strings.HasSuffix(r.File, "/") }

// openAndRead opens a file and reads some of it, so that it has a version. It returns nil if that fails.
func openAndRead(name string) *os.File {
	f, err := os.Open(name)
	if err != nil {
		return nil
	}
	if _, err := f.ReadAt(make([]byte, 1), 0); err != nil {
		f.Close() // read-only: nothing can be lost
		return nil
	}
	return f
}

// read reads a part of a file, which may be open, and returns where it starts.
func (r lyingRead) read(name string, f *os.File) (b []byte, off int, err error) {
	if f == nil {
		if f, err = os.Open(name); err != nil {
			return nil, 0, err
		}
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	off = int(info.Size()) * r.From / 1000
	b = make([]byte, r.Length)
	n, err := f.ReadAt(b, int64(off))
	if err == io.EOF {
		err = nil
	}
	return b[:n], off, err
}
