package vfs

import (
	"errors"
	"io/fs"
	"testing"
	"testing/fstest"
	"time"
)

// TestJoinInfos: several files have the sum of their sizes, the latest time, the permissions of users who may read all,
// and a version that changes with each, or if one appears.
func TestJoinInfos(t *testing.T) {
	files := fstest.MapFS{
		"a": {Data: []byte("abc"), Mode: 0o644, ModTime: time.Unix(5, 0)},
		"b": {Data: []byte("defg"), Mode: 0o600, ModTime: time.Unix(9, 0)},
	}
	stat := func(name string) fs.FileInfo {
		info, err := fs.Stat(files, name)
		if err != nil {
			t.Fatal(err)
		}
		return info
	}
	a, b := stat("a"), stat("b")
	both := JoinInfos([]fs.FileInfo{a, nil, b})
	if both.Size() != 7 || StoredOf(both) != 7 || !both.ModTime().Equal(time.Unix(9, 0)) ||
		both.Mode().Perm() != 0o400 || both.Name() != "a" {
		t.Errorf("got %d bytes, %v, %v, %s", both.Size(), both.ModTime(), both.Mode(), both.Name())
	}
	if single := JoinInfos([]fs.FileInfo{b}); single != b {
		t.Errorf("got %v for a single file", single)
	}
	seen := map[Version]bool{VersionOf(both): true}
	files["b"] = &fstest.MapFile{Data: []byte("defgh"), Mode: 0o600, ModTime: time.Unix(9, 0)}
	for _, parts := range [][]fs.FileInfo{{a, nil, stat("b")}, {a, a, b}, {nil, a, b}, {a, nil, nil}} {
		v := VersionOf(JoinInfos(parts))
		if seen[v] {
			t.Errorf("%v has the version of others", parts)
		}
		seen[v] = true
	}
	if other := WithVersion(a, Version{1}); VersionOf(other) != (Version{1}) || other.Size() != 3 {
		t.Errorf("got the version %v", VersionOf(other))
	}
}

// TestNothingListed: only a server that can list may say that a directory has no files.
func TestNothingListed(t *testing.T) {
	if !NothingListed(fs.ErrNotExist) || NothingListed(errors.Join(errors.ErrUnsupported, fs.ErrNotExist)) ||
		NothingListed(nil) {
		t.Error("NothingListed does not tell an absent directory from a server without listings")
	}
	if entries, err := fs.ReadDir(NoFiles{}, "."); len(entries) != 0 || err != nil {
		t.Errorf("got %v, %v", entries, err)
	}
	if _, err := fs.Stat(NoFiles{}, "a"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}
