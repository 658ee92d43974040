package main

import (
	"context"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/object"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

// emptyBucket has no objects.
type emptyBucket struct{}

func (emptyBucket) URL() string { return "s3://bucket" }

func (emptyBucket) Head(context.Context, string) (object.Object, error) {
	return object.Object{}, fs.ErrNotExist
}

func (emptyBucket) Read(context.Context, object.Object, []byte, int64) error { return fs.ErrNotExist }
func (emptyBucket) ReadParts(context.Context, object.Object, []vfs.Range) error {
	return fs.ErrNotExist
}

func (emptyBucket) List(context.Context, string, string, string) iter.Seq2[[]object.Object, error] {
	return func(func([]object.Object, error) bool) {}
}

// TestDiskCacheIsOpenedWhenNeeded checks that a command makes the directory for the first bucket only, and without the flag never.
func TestDiskCacheIsOpenedWhenNeeded(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	for _, test := range []struct {
		flags diskCacheFlags
		want  bool
	}{{diskCacheFlags{}, false}, {diskCacheFlags{dir: dir, size: minDiskCacheSize}, true}} {
		disk, err := test.flags.open(nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%+v: the directory exists before the first bucket", test.flags)
		}
		b, err := disk.bucket(emptyBucket{})
		if err != nil {
			t.Fatal(err)
		}
		disk.close()
		_, wrapped := b.(emptyBucket)
		if _, err := os.Stat(dir); (err == nil) != test.want || wrapped == test.want || (disk.status().Dir == dir) != test.want {
			t.Errorf("%+v: %T, %v, %+v", test.flags, b, err, disk.status())
		}
	}
}

// TestDiskCacheErrors checks that a small size and a directory for everybody are errors that name what to change.
func TestDiskCacheErrors(t *testing.T) {
	dir := t.TempDir()
	if _, err := (diskCacheFlags{dir: dir, size: 1 << 20}).open(nil); err == nil || !strings.Contains(err.Error(), "--disk-cache-size") {
		t.Errorf("got %v", err)
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	disk, err := diskCacheFlags{dir: dir, size: minDiskCacheSize}.open(nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := disk.bucket(emptyBucket{}); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("got %v", err)
	}
}
