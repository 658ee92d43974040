package gaps

import (
	"fmt"
	"io/fs"
	"log/slog"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/wkwfs/wkwfs/internal/files/knossos"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/n5"
	"github.com/wkwfs/wkwfs/precomputed"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/webknossos"
	"github.com/wkwfs/wkwfs/zarr"
)

const (
	zarr2        = `{"zarr_format": 2, "shape": [3, 2, 2], "chunks": [1, 2, 2], "dtype": "|u1", "order": "C", "compressor": null, "filters": null, "fill_value": 0%s}`
	zarr3        = `{"zarr_format": 3, "node_type": "array", "shape": [3, 2, 2], "data_type": "uint8", "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [1, 2, 2]}}, "chunk_key_encoding": {"name": %s}, "fill_value": 0, "codecs": [{"name": "bytes"}]}`
	n5Array      = `{"dimensions": [2, 2, 3], "blockSize": [2, 2, 1], "dataType": "uint8", "compression": {"type": "raw"}}`
	info         = `{"type": "image", "data_type": "uint8", "num_channels": 1, "scales": [{"key": "8_8_8", "size": [2, 2, 3], "resolution": [8, 8, 8], "chunk_sizes": [[2, 2, 1]], "encoding": "raw"%s}]}`
	knossosLayer = "[[Layer]]\nName = 'e'\nVoxelSize_nm = [8, 8, 8]\nExtent_px = [2, 2, 3]\nCubeShape_px = [2, 2, 1]\nFileExtension = '.raw'"
	sharded      = `, "sharding": {"@type": "neuroglancer_uint64_sharded_v1", "hash": "identity", "preshift_bits": 0, "minishard_bits": 0, "shard_bits": 5}`
)

// wkwHeader is a header.wkw of cubes of one block of 2 × 2 × 2 voxels.
const wkwHeader = "WKW\x01\x01\x01\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00"

// formats are mags of all formats. Each has files that describe it, files that it reads, the first of which is its
// example, and files that only another way of naming would read.
var formats = map[string]struct {
	open     func(fs.FS) (volume.Root, error)
	metadata map[string]string
	dir      string // of the mag
	cubes    []string
	unread   []string
}{
	"wkw": {openWKW, map[string]string{"header.wkw": wkwHeader}, ".",
		[]string{"z0/y0/x0.wkw", "z1/y12/x3.wkw"},
		[]string{"z0/y0/x00.wkw", "z0/y0/x1.wkw.zst", "z0/y0/0.wkw", "z0/x0.wkw", "x0.wkw", "z0/y0/z0/x0.wkw",
			"z01/y0/x0.wkw", "Z0/Y0/X0.WKW", "z0/y-1/x0.wkw", "0.0.0", "c/0/0/0", "0-2_0-2_0-2"}},
	"zarr 2, points": {openZarr, map[string]string{".zarray": fmt.Sprintf(zarr2, "")}, ".",
		[]string{"0.0.0", "2.0.0"},
		[]string{"0/0/0", "c/0/0/0", "c.0.0.0", "3.0.0", "0.0", "0.0.0.0", "00.0.0", "1.0.0.gz", "1.0.0.part", "0_0_0",
			"z0/y0/x0.wkw"}},
	"zarr 2, directories": {openZarr, map[string]string{".zarray": fmt.Sprintf(zarr2, `, "dimension_separator": "/"`)},
		".",
		[]string{"0/0/0", "2/0/0"},
		[]string{"0.0.0", "c/0/0/0", "3/0/0", "0/1/0", "0/0/1", "1/0/0.zstd", "0/0/00", "00/0/0"}},
	"zarr 3": {openZarr, map[string]string{"zarr.json": fmt.Sprintf(zarr3, `"default"`)}, ".",
		[]string{"c/0/0/0", "c/1/0/0"},
		[]string{"0/0/0", "0.0.0", "c.0.0.0", "C/0/0/0", "c/3/0/0", "c/1/0/0.part", "c/c/0/0/0"}},
	"zarr 3, v2": {openZarr, map[string]string{"zarr.json": fmt.Sprintf(zarr3, `"v2"`)}, ".",
		[]string{"0.0.0"}, []string{"c/0/0/0", "c.0.0.0", "0/0/0"}},
	"zarr 3, points": {openZarr, map[string]string{"zarr.json": fmt.Sprintf(zarr3,
		`"default", "configuration": {"separator": "."}`)}, ".",
		[]string{"c.0.0.0"}, []string{"c/0/0/0", "0.0.0"}},
	"n5": {openN5, map[string]string{"attributes.json": n5Array}, ".",
		[]string{"0/0/0", "0/0/2"},
		[]string{"0.0.0", "c/0/0/0", "2/0/0", "0/0/1.gz"}},
	"knossos": {openKNOSSOS, map[string]string{"a.k.toml": knossosLayer}, "mag1",
		[]string{"x0000/y0000/z0000/e_mag1_x0000_y0000_z0000.raw", "x0000/y0000/z0002/e_mag1_x0000_y0000_z0002.raw"},
		[]string{"x0000/y0000/z0003/e_mag1_x0000_y0000_z0003.raw", "x0001/y0000/z0000/e_mag1_x0001_y0000_z0000.raw"}},
	"precomputed": {openPrecomputed, map[string]string{"info": fmt.Sprintf(info, "")}, "8_8_8",
		[]string{"0-2_0-2_0-1", "0-2_0-2_1-2.gz", "0-2_0-2_2-3.zst"},
		[]string{"0-2_0-2_0-2", "0-2_0-2_3-4", "0-2_0-2_1-2.part", "0-2_0-2_1-2.lz4", "0.shard", "-2-0_0-2_0-1",
			"c/0-2_0-2_0-1", "0/0/0"}},
	"precomputed, two sizes": {openPrecomputed, map[string]string{"info": strings.Replace(fmt.Sprintf(info, ""),
		"[[2, 2, 1]]", "[[2, 2, 1], [0, 1, 1], [2, 2, 2], [1, 1, 1]]", 1)}, "8_8_8",
		[]string{"0-2_0-2_0-1"},
		[]string{"0-2_0-2_0-3", "1-3_0-1_0-1"}},
	"precomputed, sharded": {openPrecomputed, map[string]string{"info": fmt.Sprintf(info, sharded)}, "8_8_8",
		[]string{"00.shard", "1f.shard"},
		[]string{"0.shard", "20.shard", "1F.shard.gz", "0-2_0-2_0-1", "000.shard"}},
}

func openWKW(fsys fs.FS) (volume.Root, error) {
	return webknossos.Recognise(fsys, ".", webknossos.Options{Name: "1"})
}
func openZarr(fsys fs.FS) (volume.Root, error) { return zarr.Recognise(fsys, ".") }
func openN5(fsys fs.FS) (volume.Root, error)   { return n5.Recognise(fsys, ".") }
func openKNOSSOS(fsys fs.FS) (volume.Root, error) {
	return knossos.Recognise(fsys, ".", slog.New(slog.DiscardHandler))
}
func openPrecomputed(fsys fs.FS) (volume.Root, error) {
	return precomputed.Recognise(fsys, ".", precomputed.Options{})
}

// textsOf returns the gaps of a source as text.
func textsOf(root volume.Root, o Options) (found []string) {
	for g := range Find(root, o) {
		found = append(found, fmt.Sprintf("%s, fault %v: %v", g.Place(), g.Fault, g.Err))
	}
	return found
}

// TestKNOSSOS: cubes of other layers lie beside those of a mag. Cubes that are stored in another way, or lie in the
// wrong folder, are not read.
func TestKNOSSOS(t *testing.T) {
	for file, want := range map[string]int{
		"x0000/y0000/z0001/e_mag1_x0000_y0000_z0001.seg": 0, "x0000/y0000/z0000/notes.txt": 0,
		"x0000/y0000/z0001/e_mag1_x0000_y0000_z0001.png": 1, "x0000/y0000/z0001/e_mag1_x0000_y0000_z0002.raw": 1,
		"x0000/y0000/z0001/f_mag1_x0000_y0000_z0001.raw": 1, "x0000/y0000/z0001/e_mag1_x0000_y0000_z0001.raw.tmp": 1,
	} {
		cube := "mag1/x0000/y0000/z0000/e_mag1_x0000_y0000_z0000.raw"
		root, err := openKNOSSOS(fstest.MapFS{"a.k.toml": {Data: []byte(knossosLayer)}, cube: {}, "mag1/" + file: {}})
		if err != nil {
			t.Fatal(err)
		}
		if got := textsOf(root, Options{}); len(got) != want {
			t.Errorf("%s: got %q, expected %d", file, got, want)
		}
	}
}

// TestNames: of each format, a file that the mag reads is none of the others, and every file that only another way of
// naming would read is found, in a whole search and in a limited one. A mag without a file that it reads is empty.
func TestNames(t *testing.T) {
	for name, f := range formats {
		open := func(files ...string) volume.Root {
			tree := fstest.MapFS{f.dir + "/README.txt": {}, f.dir + "/.x0.wkw.ABC.tmp": {},
				f.dir + "/2024-01-02.log": {}}
			for file, content := range f.metadata {
				tree[file] = &fstest.MapFile{Data: []byte(content)}
			}
			for _, file := range files {
				tree[path.Join(f.dir, file)] = &fstest.MapFile{}
			}
			root, err := f.open(tree)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			return root
		}
		for _, o := range []Options{{}, Sample} {
			for _, cube := range f.cubes {
				if got := textsOf(open(cube), o); got != nil {
					t.Errorf("%s, %s: got %q", name, cube, got)
				}
			}
			if got := textsOf(open(), o); len(got) != 1 ||
				!strings.HasSuffix(got[0], "fault false: "+ErrEmpty.Error()) {
				t.Errorf("%s, without cubes: got %q", name, got)
			}
			for _, file := range f.unread {
				got := textsOf(open(f.cubes[0], file), o)
				if len(got) != 1 || !strings.Contains(got[0], ", fault false: "+path.Join(f.dir, file)+": not read") ||
					!strings.Contains(got[0], "names like "+path.Join(f.dir, f.cubes[0])) {
					t.Errorf("%s, %s: got %q", name, file, got)
				}
				if got := textsOf(open(file), o); len(got) != 2 ||
					!strings.Contains(got[0], ", fault true: "+path.Join(f.dir, file)) {
					t.Errorf("%s, %s alone: got %q", name, file, got)
				}
			}
			if o.Names > 0 {
				continue // it looks into some directories only
			}
			if got := textsOf(open(slices.Concat(f.cubes, f.unread)...), o); len(got) != 1 ||
				!strings.Contains(got[0], " like it: not read") {
				t.Errorf("%s, all files: got %q", name, got)
			}
		}
	}
}

// TestOtherDirectories: a directory with metadata is not a part of the mag, whatever its name is.
func TestOtherDirectories(t *testing.T) {
	for _, file := range metadataFiles {
		tree := fstest.MapFS{
			".zarray": {Data: fmt.Appendf(nil, zarr2, "")}, "0.0.0": {},
			"7/" + file: {}, "7/0.0.0": {}, "7/0/0/0": {},
		}
		root, err := openZarr(tree)
		if err != nil {
			t.Fatal(err)
		}
		if got := textsOf(root, Options{}); got != nil {
			t.Errorf("%s: got %q", file, got)
		}
	}
}

// TestCopies: chunks of another size of a scale are not missed, unless there are none of the size that is read.
func TestCopies(t *testing.T) {
	f := formats["precomputed, two sizes"]
	tree := fstest.MapFS{"info": {Data: []byte(f.metadata["info"])}, "8_8_8/0-2_0-2_2-3.gz": {},
		"8_8_8/0-2_0-2_0-2": {}, "8_8_8/1-2_0-1_2-3": {}}
	root, err := openPrecomputed(tree)
	if err != nil {
		t.Fatal(err)
	}
	if got := textsOf(root, Options{}); got != nil {
		t.Errorf("got %q", got)
	}
	delete(tree, "8_8_8/0-2_0-2_2-3.gz")
	if got := textsOf(root, Options{}); len(got) != 2 ||
		!strings.Contains(got[0], "fault true: 8_8_8/0-2_0-2_0-2, and another file like it: not read") {
		t.Errorf("without the size that is read: got %q", got)
	}
}

// listings counts the names that are listed.
type listings struct {
	fstest.MapFS
	mu     sync.Mutex
	dirs   int
	remote bool
}

// Speed implements vfs.SpeedReporter.
func (l *listings) Speed() vfs.Speed { return vfs.Speed{Remote: l.remote} }

func (l *listings) ReadDir(name string) ([]fs.DirEntry, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dirs++
	return l.MapFS.ReadDir(name)
}

// TestSample: a limited search looks into few directories, and says nothing of what it has not seen. A whole one sees
// all.
func TestSample(t *testing.T) {
	tree := fstest.MapFS{"header.wkw": {Data: []byte(wkwHeader)}, "z99/y99/x0.wkw": {}, "z99/y99/x1.wkw.bak": {}}
	for i := range 40 {
		tree[fmt.Sprintf("z%d/y%d/nothing", i/10, i%10)] = &fstest.MapFile{}
	}
	l := &listings{MapFS: tree}
	root, err := openWKW(l)
	if err != nil {
		t.Fatal(err)
	}
	for remote, most := range map[bool]int{false: 1 + 2*fewDirs, true: 1 + 2*fewRemote} {
		l.dirs, l.remote = 0, remote
		if got := textsOf(root, Sample); got != nil || l.dirs != most {
			t.Errorf("remote %v: %d listings, expected %d, got %q", remote, l.dirs, most, got)
		}
	}
	if got := textsOf(root, Options{}); len(got) != 1 || !strings.Contains(got[0], "z99/y99/x1.wkw.bak: not read") {
		t.Errorf("got %q", got)
	}
	if got := textsOf(root, Options{Names: 2}); got != nil {
		t.Errorf("two names of a directory: got %q", got)
	}
}

// endless is a file system in which each directory has another one, as a server may say.
type endless struct{ fstest.MapFS }

func (e endless) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := e.MapFS.ReadDir(".")
	return slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return !e.IsDir() && name != "." }), err
}

func (e endless) Stat(name string) (fs.FileInfo, error) {
	if strings.HasPrefix(name, "0") {
		name = "0"
	}
	return e.MapFS.Stat(name)
}

// TestEndless: a search ends in directories that do not.
func TestEndless(t *testing.T) {
	root, err := openWKW(endless{fstest.MapFS{"header.wkw": {Data: []byte(wkwHeader)}, "0": {Mode: fs.ModeDir}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []Options{{}, Sample} {
		if got := textsOf(root, o); got != nil {
			t.Errorf("got %q", got)
		}
	}
}

// TestFind: the gaps of a dataset have the names of their layers and mags, and those of unfinished imports come first.
func TestFind(t *testing.T) {
	tree := fstest.MapFS{
		"color/1/header.wkw": {Data: []byte(wkwHeader)}, "color/1/z0/y0/x0.wkw": {},
		"color/2/header.wkw":  {Data: []byte(wkwHeader)},
		"labels/1/header.wkw": {Data: []byte(wkwHeader)}, "labels/1/z0/y0/x0.wkw": {}, "labels/1/z0/y0/x1.wkw.gz": {},
		"labels/1/z0/y0/x0.wkw.bak": {},
	}
	root, err := openWKW(tree)
	if err != nil || root.Dataset == nil {
		t.Fatal(err)
	}
	want := []string{"labels, fault true: " + ErrUnfinished.Error(), "color/2, fault false: " + ErrEmpty.Error(),
		"labels/1, fault false: labels/1/z0/y0/x1.wkw.gz: not read, because the metadata name no such file: expected names like labels/1/z0/y0/x0.wkw"}
	if got := textsOf(root, Options{Unfinished: []string{"labels"}}); !slices.Equal(got, want) {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
	if got := textsOf(root, Options{Mags: 2}); !slices.Equal(got, want[1:2]) {
		t.Errorf("two mags: got %q", got)
	}
}

// merged is a mag that is made of two.
type merged struct {
	volume.Mag
	above volume.Mag
}

func (m merged) Index() volume.Index {
	return volume.Index{Parts: []volume.MagPart{{Mag: m.Mag, Name: "the layer below"},
		{Mag: m.above, Name: "the annotation"}}}
}

// TestComposed: files of each part of a mag are found, with the part. The mag is empty if all of its parts are.
func TestComposed(t *testing.T) {
	const good, other = "z0/y0/x0.wkw", "z0/y0/x00.wkw"
	const text = other + ": not read, because the metadata name no such file: expected names like " + good
	const below, above = ": in the layer below: " + text, ": in the annotation: " + text
	for _, c := range []struct {
		below, above []string
		want         []string
	}{
		{[]string{good}, []string{good}, nil},
		{[]string{good}, nil, nil},
		{nil, []string{good}, nil},
		{nil, nil, []string{"., fault false: " + ErrEmpty.Error()}},
		{[]string{good, other}, []string{good}, []string{"., fault false" + below}},
		{[]string{good}, []string{good, other}, []string{"., fault false" + above}},
		{[]string{good}, []string{other}, []string{"., fault true" + above}},
		{[]string{other}, []string{other}, []string{"., fault true" + below, "., fault true" + above,
			"., fault false: " + ErrEmpty.Error()}},
	} {
		open := func(files []string) volume.Mag {
			tree := fstest.MapFS{"header.wkw": {Data: []byte(wkwHeader)}}
			for _, file := range files {
				tree[file] = &fstest.MapFile{}
			}
			root, err := openWKW(tree)
			if err != nil {
				t.Fatal(err)
			}
			return root.Mag
		}
		root := volume.Root{Mag: merged{open(c.below), open(c.above)}}
		if got := textsOf(root, Options{}); !slices.Equal(got, c.want) {
			t.Errorf("%q over %q: got\n%s", c.above, c.below, strings.Join(got, "\n"))
		}
	}
}

// TestOthers: of all formats, files that nothing reads are listed if they are asked for. Metadata and hidden files are
// not among them.
func TestOthers(t *testing.T) {
	for format, f := range formats {
		fsys := fstest.MapFS{}
		for name, text := range f.metadata {
			fsys[name] = &fstest.MapFile{Data: []byte(text)}
		}
		fsys[path.Join(f.dir, f.cubes[0])] = &fstest.MapFile{Data: []byte{0}}
		fsys[path.Join(f.dir, ".DS_Store")] = &fstest.MapFile{}
		root, err := f.open(fsys)
		if err != nil {
			t.Fatal(format, err)
		}
		for _, strays := range []int{0, 1, 2} {
			for i := range strays {
				fsys[path.Join(f.dir, fmt.Sprintf("notes%d.txt", i))] = &fstest.MapFile{}
			}
			var found []Gap
			for g := range Find(root, Options{Others: true}) {
				found = append(found, g)
			}
			switch {
			case strays == 0 && len(found) > 0:
				t.Errorf("%s: got %v, expected nothing", format, found)
			case strays > 0 && (len(found) != 1 || !found[0].Other || found[0].Fault ||
				!strings.HasPrefix(found[0].Err.Error(), path.Join(f.dir, "notes0.txt"))):
				t.Errorf("%s, %d files: got %v", format, strays, found)
			}
			if texts := textsOf(root, Options{}); len(texts) > 0 {
				t.Errorf("%s: got %q without Others", format, texts)
			}
		}
	}
}
