package nfs

import (
	"bytes"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/wkwfs/wkwfs/internal/serve/nfs/xdr"
)

// numbered returns n bytes that encode their offsets.
func numbered(n int) []byte {
	p := make([]byte, 0, n+4)
	for len(p) < n {
		p = append(p, byte(len(p)>>24), byte(len(p)>>16), byte(len(p)>>8), byte(len(p)))
	}
	return p[:n]
}

func TestRead(t *testing.T) {
	const size = 3<<20 + 5
	data := numbered(size)
	c := connect(t, fstest.MapFS{"color/1/volume.raw": {Data: data, Mode: 0o444}, "empty": {Mode: 0o444}})
	h := c.find("color/1/volume.raw")
	for _, off := range []uint64{0, 1, 4095, 1 << 20, size - 1, size, size + 1, 1 << 40, 1<<63 - 1, 1 << 63,
		1<<64 - 1} {
		for _, n := range []uint32{0, 1, 2, 3, 4, 4095, 4096, 4097, 1 << 20, 1<<20 + 1, 1<<32 - 1} {
			from := min(off, size)
			want := data[from:min(from+uint64(min(n, maxRead)), size)]
			s, got, eof := c.read(h, off, n)
			if s != statusOK || !bytes.Equal(got, want) || eof != (off+uint64(len(want)) >= size) {
				t.Fatalf("%d bytes from %d: status %d, %d bytes, end %t, expected %d bytes", n, off, s, len(got), eof,
					len(want))
			}
		}
	}
	if s, got, eof := c.read(c.find("empty"), 0, 10); s != statusOK || len(got) != 0 || !eof {
		t.Errorf("an empty file: %d, %q, %t", s, got, eof)
	}
	if s, _, _ := c.read(c.find("color"), 0, 10); s != statusIsDir {
		t.Errorf("a directory: status %d", s)
	}
}

func TestLookup(t *testing.T) {
	files := fstest.MapFS{"a/b/c": {Data: []byte("123"), Mode: 0o644, Sys: &syscall.Stat_t{Uid: 3, Gid: 4}}}
	c := connect(t, files)
	s, a := c.mount("/a")
	if s != statusOK {
		t.Fatal(s)
	}
	long := strings.Repeat("n", maxName+1)
	for _, l := range []struct {
		dir, name string
		want      status
		path      string
	}{
		{"a", "b", statusOK, "a/b"}, {"a", ".", statusOK, "a"}, {"a", "..", statusOK, "."}, {".", "..", statusOK, "."},
		{"a/b", "c", statusOK, "a/b/c"},
		{"a", "x", statusNoEntry, ""}, {"a", "", statusNoEntry, ""}, {"a", "b/c", statusNoEntry, ""},
		{"a", "b/..", statusNoEntry, ""}, {"a", "\xff", statusNoEntry, ""},
		{"a", "../a", statusNoEntry, ""}, {"a", "/", statusNoEntry, ""}, {"a", long, statusNameTooLong, ""},
		{"a", long[1:], statusNoEntry, ""}, {"a/b/c", "d", statusNotDir, ""},
	} {
		info, err := fs.Stat(files, l.dir)
		if err != nil {
			t.Fatal(err)
		}
		dir := newHandles(files).encode(handleOf(l.dir, info))
		s, h, at := c.lookup(dir, l.name)
		if s != l.want {
			t.Errorf("%s in %s: status %d, expected %d", l.name, l.dir, s, l.want)
			continue
		}
		if s == statusOK {
			if got, err := newHandles(files).decode(t.Context(), h, anywhere); err != nil || got.path != l.path ||
				at.id != fileID(l.path) {
				t.Errorf("%s in %s: got %+v, %v, %+v", l.name, l.dir, got, err, at)
			}
		}
	}
	_, file, at := c.lookup(first(c.mount("a/b")), "c")
	if want := (attr{kind: 1, mode: 0o444, uid: 3, gid: 4, size: 3, fsid: 7, id: fileID("a/b/c")}); at != want {
		t.Errorf("got %+v, expected %+v", at, want)
	}
	if s, d := c.nfs(1, func(e *xdr.Encoder) { e.Opaque(file) }); s != statusOK || readAttr(d) != at {
		t.Errorf("GETATTR: status %d, not the attributes of LOOKUP", s)
	}
	if s, d := c.nfs(1, func(e *xdr.Encoder) { e.Opaque(a) }); s != statusOK || readAttr(d).kind != 2 {
		t.Errorf("GETATTR of a directory: status %d", s)
	}
}

func first(_ status, h []byte) []byte { return h }

// TestChangedFile: the handle of a file that has changed is stale, and another lookup gives the new version.
func TestChangedFile(t *testing.T) {
	files := fstest.MapFS{"dir/f": {Data: []byte("old"), Mode: 0o444, ModTime: time.Unix(1, 0)}}
	c := connect(t, files)
	old, dir := c.find("dir/f"), first(c.mount("dir"))
	files["dir/f"] = &fstest.MapFile{Data: []byte("new!"), Mode: 0o444, ModTime: time.Unix(2, 0)}
	getAttr := func(h []byte) status {
		s, _ := c.nfs(1, func(e *xdr.Encoder) { e.Opaque(h) })
		return s
	}
	if s := getAttr(old); s != statusStale {
		t.Errorf("GETATTR of the old version: status %d", s)
	}
	if s, p, _ := c.read(old, 0, 10); s != statusStale {
		t.Errorf("READ of the old version: status %d, %q", s, p)
	}
	_, h, _ := c.lookup(dir, "f")
	if s, p, _ := c.read(h, 0, 10); s != statusOK || string(p) != "new!" {
		t.Errorf("READ of the new version: status %d, %q", s, p)
	}
	delete(files, "dir/f")
	files["dir/other"] = &fstest.MapFile{}
	if s := getAttr(h); s != statusStale {
		t.Errorf("GETATTR of a removed file: status %d", s)
	}
	if s := getAttr(dir); s != statusOK {
		t.Errorf("GETATTR of its directory: status %d", s)
	}
}

// TestPermissions: a caller reads what the source lets it read, and reaches nothing below a directory that it may not
// search, not even by a handle.
func TestPermissions(t *testing.T) {
	const alice, bob, staff = 1000, 1001, 50
	own := &syscall.Stat_t{Uid: alice, Gid: staff}
	files := fstest.MapFS{
		"open":         {Mode: fs.ModeDir | 0o755, Sys: own},
		"open/all":     {Mode: 0o444, Sys: own, Data: []byte("all")},
		"open/group":   {Mode: 0o440, Sys: own, Data: []byte("group")},
		"open/alice":   {Mode: 0o400, Sys: own, Data: []byte("alice")},
		"closed":       {Mode: fs.ModeDir | 0o700, Sys: own},
		"closed/all":   {Mode: 0o444, Sys: own, Data: []byte("all")},
		"blind":        {Mode: fs.ModeDir | 0o711, Sys: own},
		"blind/all":    {Mode: 0o444, Sys: own, Data: []byte("all")},
		"closed/d/sub": {Mode: 0o444, Sys: own},
		"closed/d":     {Mode: fs.ModeDir | 0o755, Sys: own},
	}
	handleTo := func(name string) []byte {
		info, err := fs.Stat(files, name)
		if err != nil {
			t.Fatal(err)
		}
		return newHandles(files).encode(handleOf(name, info))
	}
	c := connect(t, files)
	for _, p := range []struct {
		who     claim
		granted string // files that it may read
		listed  string // directories that it may list
	}{
		{claim{uid: alice, gid: 1}, "open/all open/group open/alice closed/all blind/all closed/d/sub",
			". open closed blind closed/d"},
		{claim{uid: bob, gid: staff}, "open/all open/group blind/all", ". open"},
		{claim{uid: bob, gid: 1, groups: []uint32{staff}}, "open/all open/group blind/all", ". open"},
		{claim{uid: bob, gid: 1}, "open/all blind/all", ". open"},
		{claim{}, "open/all blind/all", ". open"}, // root of another machine
	} {
		c.claim = p.who
		for _, name := range []string{"open/all", "open/group", "open/alice", "closed/all", "blind/all",
			"closed/d/sub"} {
			may := slices.Contains(strings.Fields(p.granted), name)
			s, data, _ := c.read(handleTo(name), 0, 10)
			if want := statusOK; may && (s != want || string(data) != string(files[name].Data)) ||
				!may && s != statusAccess {
				t.Errorf("%+v: READ of %s: status %d", p.who, name, s)
			}
			s, d := c.nfs(4, func(e *xdr.Encoder) { e.Opaque(handleTo(name)); e.Uint32(0x3f) })
			reachable := !strings.HasPrefix(name, "closed/") || p.who.uid == alice
			if reachable != (s == statusOK) {
				t.Errorf("%+v: ACCESS of %s: status %d", p.who, name, s)
			} else if reachable {
				d.Uint32()
				readAttr(d)
				if granted := d.Uint32(); (granted == accessRead) != may || granted&^accessRead != 0 {
					t.Errorf("%+v: ACCESS of %s: got %#x", p.who, name, granted)
				}
			}
		}
		for _, dir := range []string{".", "open", "closed", "blind", "closed/d"} {
			want := statusAccess
			if slices.Contains(strings.Fields(p.listed), dir) {
				want = statusOK
			}
			for _, plus := range []bool{false, true} {
				if s, _, _ := c.list(handleTo(dir), 0, 4096, plus); s != want {
					t.Errorf("%+v: listing %s: status %d, expected %d", p.who, dir, s, want)
				}
			}
		}
		if s, _ := c.mount("closed/d"); (s == statusOK) != (p.who.uid == alice) {
			t.Errorf("%+v: mount: status %d", p.who, s)
		}
	}
}

// TestReadOnly: procedures that write are refused, with a body of the right length.
func TestReadOnly(t *testing.T) {
	c := connect(t, fstest.MapFS{"f": {Mode: 0o644}})
	f := c.find("f")
	for procedure, words := range map[uint32]int{2: 2, 7: 2, 8: 2, 9: 2, 10: 2, 11: 2, 12: 2, 13: 2, 14: 4, 15: 3,
		21: 2} {
		s, d := c.nfs(procedure, func(e *xdr.Encoder) { e.Opaque(f); e.Opaque(make([]byte, maxWrite)) })
		if s != statusReadOnly || !bytes.Equal(d.Rest(), make([]byte, 4*words)) {
			t.Errorf("procedure %d: status %d, % x", procedure, s, d.Rest())
		}
	}
	if s, _ := c.nfs(5, func(e *xdr.Encoder) { e.Opaque(f) }); s != statusInvalid {
		t.Errorf("READLINK: status %d", s)
	}
}

// TestInformation checks the lengths of results that hardly change, and some numbers.
func TestInformation(t *testing.T) {
	c := connect(t, fstest.MapFS{})
	h := first(c.mount("/"))
	root := func(e *xdr.Encoder) { e.Opaque(h) }
	for procedure, size := range map[uint32]int{18: 6*8 + 4, 19: 7*4 + 8 + 8 + 4, 20: 6 * 4} {
		s, d := c.nfs(procedure, root)
		d.Uint32()
		if a := readAttr(d); s != statusOK || a.id != 1 || len(d.Rest()) != size {
			t.Errorf("procedure %d: status %d, %+v, % x", procedure, s, a, d.Rest())
		}
		if procedure == 19 {
			if largest := d.Uint32(); largest != 1<<20 {
				t.Errorf("READ of at most %d bytes", largest)
			}
		}
	}
	for name, want := range map[string]status{"/": statusOK, "": statusOK, "//": statusOK, "/x": statusNoEntry,
		"/../..": statusOK, "/\xff": statusNoEntry} {
		if s, _ := c.mount(name); s != want {
			t.Errorf("mount of %q: status %d, expected %d", name, s, want)
		}
	}
	for i, want := range []string{0: "", 2: "\x00\x00\x00\x00", 3: "", 4: "",
		5: "\x00\x00\x00\x01\x00\x00\x00\x01/\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"} {
		if i == 1 {
			continue
		}
		if got := c.call(programMount, versionMount, uint32(i), nil).Rest(); string(got) != want {
			t.Errorf("procedure %d of MOUNT: got %q", i, got)
		}
	}
}

// TestPortmap: the server tells where its programs are.
func TestPortmap(t *testing.T) {
	s := New(fstest.MapFS{}, Options{})
	s.port = 20490
	c := connectTo(t, s)
	for _, q := range []struct{ program, version, protocol, want uint32 }{
		{programNFS, 3, 6, 20490}, {programMount, 3, 6, 20490}, {programNFS, 4, 6, 0}, {programMount, 1, 6, 0},
		{programNFS, 3, 17, 0}, {100021, 4, 6, 0},
	} {
		d := c.call(programPortmap, versionPortmap, 3,
			func(e *xdr.Encoder) { e.Uint32(q.program, q.version, q.protocol, 0) })
		if got := d.Uint32(); got != q.want {
			t.Errorf("%+v: got %d", q, got)
		}
	}
}

// TestErrorStatus: errors of the source have the status of their class.
func TestErrorStatus(t *testing.T) {
	for err, want := range map[error]status{
		fs.ErrNotExist: statusNoEntry, syscall.ENOTDIR: statusNotDir, syscall.ENAMETOOLONG: statusNameTooLong,
		fs.ErrPermission: statusAccess,
		fs.ErrInvalid:    statusInvalid, syscall.EMFILE: statusJukebox, syscall.EIO: statusIO,
		fmt.Errorf("block 3: bad"):       statusIO,
		fmt.Errorf("x: %w", statusStale): statusStale,
	} {
		if got := statusOf(err); got != want {
			t.Errorf("%v: got %d, expected %d", err, got, want)
		}
	}
}
