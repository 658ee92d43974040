package save

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/wkwfs/wkwfs/internal/names/header"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// fakeTree has the directories mag, which can be written, and other. mag/volume.* show the same voxels.
type fakeTree struct {
	grid    volume.Grid
	voxels  []byte
	writes  int
	syncs   int
	outside bool  // no voxel can be written
	failed  error // of writes
}

func (f *fakeTree) Open(name string) (fs.File, error) {
	info, err := f.Stat(name)
	if err != nil {
		return nil, err
	}
	if vfs.DetailsOf(info).Writable && !info.IsDir() {
		return fakeFile{f, info}, nil
	}
	return f.files().Open(name)
}

// files has the names.
func (f *fakeTree) files() fstest.MapFS {
	files := fstest.MapFS{"other/f": {}, "mag/volume.json": {}, "mag/slices/s.tif": {}}
	for _, suffix := range []string{".raw", ".npy", ".nrrd", ".nii", ".tif"} {
		files["mag/volume"+suffix] = &fstest.MapFile{}
	}
	return files
}

func (f *fakeTree) Stat(name string) (fs.FileInfo, error) {
	info, err := f.files().Stat(name)
	if err == nil && (name == "mag" || path.Dir(name) == "mag" && !strings.HasSuffix(name, ".json") &&
		!info.IsDir()) {
		info = writableInfo{info}
	}
	return info, err
}

func (f *fakeTree) ReadDir(name string) ([]fs.DirEntry, error) { return f.files().ReadDir(name) }

type writableInfo struct{ fs.FileInfo }

func (writableInfo) Details() vfs.Details { return vfs.Details{Writable: true} }

// fakeFile is a file of voxels.
type fakeFile struct {
	*fakeTree
	info fs.FileInfo
}

func (f fakeFile) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f fakeFile) Read([]byte) (int, error)   { return 0, io.EOF }
func (f fakeFile) Close() error               { return nil }
func (f fakeFile) Grid() volume.Grid          { return f.grid }
func (f fakeFile) Sync(context.Context) error { f.syncs++; return nil }

func (f fakeFile) Check(p []byte, off int64) error {
	if f.outside {
		return fmt.Errorf("outside: %w", fs.ErrInvalid)
	}
	return nil
}

func (f fakeFile) WriteVoxels(_ context.Context, p []byte, off int64) error {
	f.writes++
	if f.failed == nil {
		copy(f.voxels[off:], p)
	}
	return f.failed
}

// tryFS returns a file system over voxels that are all 0.
func tryFS(t *testing.T, g volume.Grid, change func(*limits)) (*FS, *fakeTree) {
	t.Helper()
	l := usual
	change(&l)
	tree := &fakeTree{grid: g, voxels: make([]byte, g.Bytes())}
	return newFS(tree, t.TempDir(), slog.New(slog.DiscardHandler), l), tree
}

// counted returns voxels that encode where they are.
func counted(g volume.Grid) []byte {
	p := make([]byte, g.Bytes())
	for i := range p {
		p[i] = byte(i*7 + 1)
	}
	return p
}

// ours returns a file as a mount has it.
func ours(t *testing.T, suffix string, g volume.Grid, voxels []byte) []byte {
	t.Helper()
	for _, f := range header.Formats() {
		if f.Suffix != suffix {
			continue
		}
		l, err := f.Layout(header.Array{Grid: g, Name: "a"})
		var cannot *header.Unrepresentable
		if errors.As(err, &cannot) {
			return nil
		}
		if err != nil {
			t.Fatal(err)
		}
		tail := make([]byte, l.TailSize)
		if l.TailSize > 0 {
			if _, err := l.Tail.ReadAt(tail, 0); err != nil && err != io.EOF {
				t.Fatal(err)
			}
		}
		return slices.Concat(l.Head, voxels, tail)
	}
	return voxels
}

// npy returns a file as numpy.save writes it: with a short header, and in one of the orders.
func npy(g volume.Grid, voxels []byte, fortran, big bool) []byte {
	n := g.Size
	shape := fmt.Sprintf("(%d, %d, %d)", n[0], n[1], n[2])
	if g.Channels > 1 {
		shape = fmt.Sprintf("(%d, %d, %d, %d)", g.Channels, n[0], n[1], n[2])
	}
	descr, order := g.Type.Descr(), "False"
	if fortran {
		order = "True"
	}
	out := bytes.Clone(voxels)
	if !fortran {
		out = cOrder(g, voxels)
	}
	if v := g.Type.Size(); big && v > 1 {
		descr = ">" + descr[1:]
		for i := 0; i < len(out); i += v {
			slices.Reverse(out[i : i+v])
		}
	}
	text := fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }\n", descr, order, shape)
	return slices.Concat([]byte("\x93NUMPY\x01\x00"), binary.LittleEndian.AppendUint16(nil, uint16(len(text))),
		[]byte(text), out)
}

// cOrder returns voxels with the last axis fastest: z, then y, then x, then the channels.
func cOrder(g volume.Grid, voxels []byte) (out []byte) {
	v, n := g.Type.Size(), g.Size
	for c := range g.Channels {
		for x := range n[0] {
			for y := range n[1] {
				for z := range n[2] {
					at := (volume.Vec{x, y, z}.Index(n)*g.Channels + c) * v
					out = append(out, voxels[at:at+v]...)
				}
			}
		}
	}
	return out
}

// gzipNRRD returns a compressed NRRD with a short header.
func gzipNRRD(g volume.Grid, voxels []byte) []byte {
	types := map[volume.Type]string{volume.Uint8: "uint8", volume.Uint16: "uint16", volume.Uint32: "uint32"}
	text := fmt.Sprintf("NRRD0004\ntype: %s\ndimension: 3\nsizes: %d %d %d\nendian: little\nencoding: gzip\n\n",
		types[g.Type], g.Size[0], g.Size[1], g.Size[2])
	b := bytes.NewBufferString(text)
	w := gzip.NewWriter(b)
	_, _ = w.Write(voxels) // a bytes.Buffer takes everything
	_ = w.Close()
	return b.Bytes()
}

// forms returns files of an array as programs write them, by their suffixes and a description.
func forms(t *testing.T, g volume.Grid, voxels []byte) map[string][]byte {
	t.Helper()
	all := map[string][]byte{
		".npy C order": npy(g, voxels, false, false), ".npy Fortran order": npy(g, voxels, true, false),
		".npy big-endian": npy(g, voxels, false, true), ".npy big-endian, Fortran order": npy(g, voxels, true, true),
	}
	for _, suffix := range []string{".raw", ".npy", ".nrrd", ".nii", ".tif"} {
		if b := ours(t, suffix, g, voxels); b != nil {
			all[suffix+" as it is"] = b
		}
	}
	if g.Channels == 1 {
		all[".nrrd gzip"] = gzipNRRD(g, voxels)
	}
	return all
}

// ways are the ways to save a file.
var ways = map[string]func(t *testing.T, f *FS, name string, content []byte) error{
	"over it":             saveOver,
	"rename":              saveAndRename,
	"remove, make it new": removeAndSave,
}

func saveOver(t *testing.T, f *FS, name string, content []byte) error {
	o, err := f.Rewrite(name)
	if err != nil {
		return err
	}
	if o == nil { // in place
		return saveAndRename(t, f, name, content)
	}
	return finish(t, o, content)
}

// finish writes in pieces, not in order, and closes the file.
func finish(t *testing.T, o vfs.SavedFile, content []byte) error {
	t.Helper()
	half := len(content) / 2
	err := o.WriteAtContext(t.Context(), content[half:], int64(half))
	err = errors.Join(err, o.WriteAtContext(t.Context(), content[:half], 0))
	err = errors.Join(err, o.Commit(t.Context()))
	return errors.Join(err, o.Close())
}

func saveAndRename(t *testing.T, f *FS, name string, content []byte) error {
	o, err := f.Create("mag/.new", 0o600, 1, 2)
	if err != nil {
		return err
	}
	if err := finish(t, o, content); err != nil {
		return err
	}
	err = f.Rename(t.Context(), "mag/.new", name)
	if err != nil {
		err = errors.Join(err, f.Remove("mag/.new"))
	}
	return err
}

func removeAndSave(t *testing.T, f *FS, name string, content []byte) error {
	if err := f.Remove(name); err != nil {
		return err
	}
	if _, err := f.Stat(name); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is shown after it was removed: %v", name, err)
	}
	o, err := f.Create(name, 0o600, 1, 2)
	if err != nil {
		return err
	}
	return finish(t, o, content)
}

// grids yields all small shapes and some types.
func grids(yield func(volume.Grid) bool) {
	for size := range (volume.Box{Min: volume.Cube(1), Max: volume.Vec{4, 4, 4}}).All() {
		for _, g := range []volume.Grid{
			{Type: volume.Uint8, Channels: 1}, {Type: volume.Uint32, Channels: 1}, {Type: volume.Uint8, Channels: 3},
		} {
			g.Size, g.Block = size, volume.Cube(32)
			if !yield(g) {
				return
			}
		}
	}
}

// TestSaveAgreesWithModel saves all small shapes, in all forms and ways, with pieces of all sizes. The voxels are those
// that were saved. They are durable, and no new file is left.
func TestSaveAgreesWithModel(t *testing.T) {
	dir := t.TempDir()
	piece := 0
	for g := range grids {
		voxels := counted(g)
		for form, content := range forms(t, g, voxels) {
			suffix, _, _ := strings.Cut(form, " ")
			for way, save := range ways {
				piece++
				tree := &fakeTree{grid: g, voxels: make([]byte, len(voxels))}
				l := usual
				l.piece = piece%(len(voxels)+2) + 1
				f := newFS(tree, dir, slog.New(slog.DiscardHandler), l)
				err := save(t, f, "mag/volume"+suffix, content)
				if err != nil || !bytes.Equal(tree.voxels, voxels) {
					t.Fatalf("%v × %d × %v, %s, %s, pieces of %d: %v, got %v, expected %v", g.Size, g.Channels, g.Type,
						form, way, l.piece, err, tree.voxels, voxels)
				}
				if tree.syncs == 0 || f.space.used.Load() != 0 || len(f.files) != 0 || len(f.hidden) != 0 {
					t.Fatalf("%s, %s: %d syncs, %d bytes and %d files are left", form, way, tree.syncs,
						f.space.used.Load(), len(f.files))
				}
			}
		}
	}
}

// TestRefusals: a file of another array, of another format, or that is cut off at any byte, changes nothing.
func TestRefusals(t *testing.T) {
	g := volume.Grid{Size: volume.Vec{3, 2, 2}, Block: volume.Cube(32), Type: volume.Uint16, Channels: 1}
	check := func(what, suffix string, content []byte, prepare func(*fakeTree)) {
		t.Helper()
		for way, save := range ways {
			f, tree := tryFS(t, g, func(l *limits) { l.piece = 5 })
			prepare(tree)
			err := save(t, f, "mag/volume"+suffix, content)
			if !errors.Is(err, fs.ErrInvalid) || tree.writes != 0 {
				t.Errorf("%s, %s: got %v and %d writes, expected %v and none", what, way, err, tree.writes, fs.ErrInvalid)
			}
			if _, err := f.Stat("mag/volume" + suffix); err != nil || f.space.used.Load() != 0 {
				t.Errorf("%s, %s: %v, %d bytes are left", what, way, err, f.space.used.Load())
			}
		}
	}
	nothing := func(*fakeTree) {}
	for form, content := range forms(t, g, counted(g)) {
		suffix, _, _ := strings.Cut(form, " ")
		for n := 1; n < len(content); n += 1 + len(content)/50 {
			if suffix != ".tif" || n < 4096+len(counted(g)) { // what follows is the description of a TIFF
				check(fmt.Sprintf("%s cut off at %d", form, n), suffix, content[:n], nothing)
			}
		}
		check(form+" outside", suffix, content, func(f *fakeTree) { f.outside = true })
		for _, other := range []string{".raw", ".npy", ".nrrd", ".nii", ".tif"} {
			if other != suffix && len(content) != int(g.Bytes()) {
				check(form+" as "+other, other, content, nothing)
			}
		}
	}
	for what, change := range map[string]func(*volume.Grid){
		"another size":     func(g *volume.Grid) { g.Size[0]++ },
		"turned":           func(g *volume.Grid) { g.Size = volume.Vec{2, 2, 3} },
		"another type":     func(g *volume.Grid) { g.Type = volume.Int16 },
		"a wider type":     func(g *volume.Grid) { g.Type = volume.Uint32 },
		"another channels": func(g *volume.Grid) { g.Channels = 3 },
	} {
		other := g
		change(&other)
		for form, content := range forms(t, other, counted(other)) {
			suffix, _, _ := strings.Cut(form, " ")
			if suffix == ".raw" && len(content) == int(g.Bytes()) || suffix == ".nii" && other.Channels > 1 {
				continue // nothing says that it is another one
			}
			check(what+" "+form, suffix, content, nothing)
		}
	}
}

// TestBounds: new files, their bytes and hidden names are bounded, and a failed write refuses the file.
func TestBounds(t *testing.T) {
	g := volume.Grid{Size: volume.Cube(2), Block: volume.Cube(32), Type: volume.Uint8, Channels: 1}
	f, tree := tryFS(t, g, func(l *limits) { l.files, l.bytes, l.names = 2, 10, 2 })
	create := func(name string) vfs.SavedFile {
		t.Helper()
		o, err := f.Create(name, 0o600, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	a, b := create("mag/a"), create("mag/b")
	if _, err := f.Create("mag/c", 0o600, 0, 0); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a third file: %v", err)
	}
	write := func(o vfs.SavedFile, n int, off int64, want error) {
		t.Helper()
		err := o.WriteAtContext(t.Context(), make([]byte, n), off)
		if !errors.Is(err, want) || want == nil && err != nil {
			t.Errorf("%d bytes at %d: got %v, expected %v", n, off, err, want)
		}
	}
	write(a, 6, 0, nil)
	write(b, 4, 0, nil)
	write(b, 1, 4, syscall.ENOSPC)
	write(a, 6, 0, nil)
	if err := a.Truncate(2); err != nil {
		t.Error(err)
	}
	write(b, 4, 4, nil)
	if err := f.Rename(t.Context(), "mag/b", "mag/volume.raw"); !errors.Is(err, fs.ErrInvalid) || tree.writes != 0 {
		t.Errorf("a file with a failed write: %v", err)
	}
	if err := b.Truncate(0); err != nil {
		t.Error(err)
	}
	write(b, 8, 0, nil)
	if err := f.Rename(t.Context(), "mag/b", "mag/volume.raw"); err != nil {
		t.Error(err)
	}
	write(b, 1, 0, syscall.EROFS)
	if err := errors.Join(b.Close(), a.Close(), f.Remove("mag/a")); err != nil || f.space.used.Load() != 0 {
		t.Errorf("%v, %d bytes are used", err, f.space.used.Load())
	}
	for _, suffix := range []string{".raw", ".npy", ".nii"} {
		if err := f.Remove("mag/volume" + suffix); err != nil {
			t.Error(err)
		}
	}
	if !slices.Equal(f.hidden, []string{"mag/volume.npy", "mag/volume.nii"}) {
		t.Errorf("hidden are %q", f.hidden)
	}
	names, err := os.ReadDir(f.space.dir)
	if err != nil || len(names) != 0 {
		t.Errorf("%v, the disk has %v", err, names)
	}
	tree.failed = syscall.ENOSPC
	if err := saveOver(t, f, "mag/volume.npy", npy(g, counted(g), true, false)); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a full disk: %v", err)
	}
}

// TestNames: which names can be made, renamed and removed, and what is listed.
func TestNames(t *testing.T) {
	g := volume.Grid{Size: volume.Cube(2), Block: volume.Cube(32), Type: volume.Uint8, Channels: 1}
	f, _ := tryFS(t, g, func(*limits) {})
	create := func(name string) error {
		o, err := f.Create(name, 0o640, 3, 4)
		if err == nil {
			err = errors.Join(o.WriteAtContext(t.Context(), []byte("abc"), 0), o.Commit(t.Context()), o.Close())
		}
		return err
	}
	rename := func(from, to string) error { return f.Rename(t.Context(), from, to) }
	for _, c := range []struct {
		what string
		err  error
		want error
	}{
		{"new", create("mag/new"), nil},
		{"twice", create("mag/new"), fs.ErrExist},
		{"elsewhere", create("other/new"), syscall.EROFS},
		{"no directory", create("none/new"), fs.ErrNotExist},
		{"a file that is fixed", create("mag/volume.json"), syscall.EROFS},
		{"a box outside of the layer", create("mag/0-1_0-1_0-1.npy"), fs.ErrInvalid},
		{"a volume in no format", create("mag/volume.mat"), fs.ErrInvalid},
		{"rename", rename("mag/new", "mag/newer"), nil},
		{"rename of none", rename("mag/new", "mag/newer"), syscall.EROFS},
		{"rename of a file of the tree", rename("mag/volume.npy", "mag/volume.npy~"), syscall.EROFS},
		{"rename elsewhere", rename("mag/newer", "other/new"), syscall.EROFS},
		{"rename to a fixed file", rename("mag/newer", "mag/volume.json"), syscall.EROFS},
		{"rename to a box outside", rename("mag/newer", "mag/0-1_0-1_0-1.npy"), fs.ErrInvalid},
		{"rename to itself", rename("mag/newer", "mag/newer"), nil},
		{"another", create("mag/another"), nil},
		{"rename over a new one", rename("mag/another", "mag/newer"), nil},
		{"remove a fixed file", f.Remove("mag/volume.json"), syscall.EROFS},
		{"remove none", f.Remove("mag/none"), fs.ErrNotExist},
		{"remove a file of the tree", f.Remove("mag/volume.nii"), nil},
	} {
		if !errors.Is(c.err, c.want) || c.want == nil && c.err != nil {
			t.Errorf("%s: got %v, expected %v", c.what, c.err, c.want)
		}
	}
	var names []string
	for batch, err := range f.List("mag") {
		for _, e := range batch {
			names = append(names, e.Name())
		}
		if err != nil {
			t.Error(err)
		}
	}
	want := []string{"newer", "slices", "volume.json", "volume.npy", "volume.nrrd", "volume.raw", "volume.tif"}
	if !slices.Equal(names, want) {
		t.Errorf("listed are %q, expected %q", names, want)
	}
	info, err := f.Stat("mag/newer")
	if err != nil || info.Size() != 3 || info.Mode() != 0o640 || info.Name() != "newer" {
		t.Errorf("got %v, %v", info, err)
	}
	b, err := fs.ReadFile(f, "mag/newer")
	if err != nil || string(b) != "abc" {
		t.Errorf("read %q, %v", b, err)
	}
	if f.space.used.Load() != 3 {
		t.Errorf("%d bytes are used, expected 3", f.space.used.Load())
	}
}
