package diskcache

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// putIndex keeps an index of some content.
func putIndex(c *Cache, key string, content []byte) error {
	return c.PutIndex([]byte(key), int64(len(content))+100, func(w io.Writer) error {
		_, err := w.Write(content[:len(content)/2])
		_, again := w.Write(content[len(content)/2:])
		return errors.Join(err, again)
	})
}

// index reads an index. It returns nil if there is none.
func index(t *testing.T, c *Cache, key string) []byte {
	t.Helper()
	i, err := c.OpenIndex([]byte(key))
	if err != nil {
		return nil
	}
	defer i.Close()
	b := make([]byte, i.Size())
	if _, err := i.ReadAt(b, 0); err != nil {
		t.Fatal(err)
	}
	if n, err := i.ReadAt(make([]byte, 2), i.Size()-1); n != 1 || err != io.EOF {
		t.Errorf("behind the end: %d bytes, %v", n, err)
	}
	return b
}

// TestIndexes: an index is there after a restart, as it was put; one with another byte, a part of one, or that of
// another key, is not.
func TestIndexes(t *testing.T) {
	dir := t.TempDir()
	c := openCache(t, dir, Options{})
	a, b := bytes.Repeat([]byte("abc"), 5000), []byte("other")
	if err := errors.Join(putIndex(c, "a", []byte("before")), putIndex(c, "a", a), putIndex(c, "b", b)); err != nil {
		t.Fatal(err)
	}
	c = flush(t, c, dir)
	if !bytes.Equal(index(t, c, "a"), a) || !bytes.Equal(index(t, c, "b"), b) || index(t, c, "c") != nil {
		t.Error("other indexes than those that were put")
	}
	name, _ := indexName([]byte("a"))
	path := filepath.Join(c.dir, name)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for bit := int64(0); bit < int64(8*len(whole)); bit += 97 {
		if err := os.WriteFile(path, whole, 0o600); err != nil {
			t.Fatal(err)
		}
		flipBit(t, path, bit)
		if index(t, c, "a") != nil {
			t.Fatalf("an index with another bit %d is read", bit)
		}
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("it was not removed: %v", err)
		}
	}
	for size := 0; size < len(whole); size += 51 {
		if err := os.WriteFile(path, whole[:size], 0o600); err != nil {
			t.Fatal(err)
		}
		if index(t, c, "a") != nil {
			t.Errorf("%d of %d bytes of an index are read", size, len(whole))
		}
	}
	other, _ := indexName([]byte("b"))
	if err := os.Rename(filepath.Join(c.dir, other), path); err != nil {
		t.Fatal(err)
	}
	if index(t, c, "a") != nil {
		t.Error("the index of another key is read")
	}
	if c.Stats().Damaged == 0 {
		t.Error("damage is not counted")
	}
	if err := putIndex(c, "a", a); err != nil || !bytes.Equal(index(t, c, "a"), a) {
		t.Errorf("put again: %v", err)
	}
	if c.RemoveIndex([]byte("a")); index(t, c, "a") != nil {
		t.Error("an index that was removed is read")
	}
}

// TestIndexesThatFail: what a writer leaves that fails, or writes too much, is no index.
func TestIndexesThatFail(t *testing.T) {
	dir := t.TempDir()
	c := openCache(t, dir, Options{Size: 1 << 20})
	failed := errors.New("failed")
	if err := c.PutIndex([]byte("a"), 10, func(w io.Writer) error { return failed }); !errors.Is(err, failed) {
		t.Errorf("got %v", err)
	}
	if err := c.PutIndex([]byte("a"), 10,
		func(w io.Writer) error { _, err := w.Write(make([]byte, 11)); return err }); !errors.Is(err, errFull) {
		t.Errorf("more than was said: got %v", err)
	}
	if err := putIndex(c, "a", make([]byte, 1<<20)); !errors.Is(err, errFull) {
		t.Errorf("more than the cache may have: got %v", err)
	}
	if left, err := os.ReadDir(filepath.Join(c.dir, indexesDir)); index(t, c, "a") != nil || err != nil ||
		len(left) != 0 {
		t.Errorf("%v, left %v", err, left)
	}
}

// TestIndexesAreEvicted: indexes count as pieces do, and those that were not used for longest go first.
func TestIndexesAreEvicted(t *testing.T) {
	dir := t.TempDir()
	const size = 1 << 20
	c := openCache(t, dir, Options{Size: size})
	content := make([]byte, 100<<10)
	old := time.Now().Add(-time.Hour)
	for i := range byte(20) {
		key := string([]byte{'k', i})
		if err := putIndex(c, key, content); err != nil {
			t.Fatal(err)
		}
		name, _ := indexName([]byte(key))
		if err := os.Chtimes(filepath.Join(c.dir, name), old, old.Add(time.Duration(i)*time.Second)); err != nil {
			t.Fatal(err)
		}
		if used := sizeOf(t, c.dir); used > size || c.Stats().UsedBytes > size {
			t.Errorf("%d bytes on the disk, %d in use, want at most %d", used, c.Stats().UsedBytes, size)
		}
	}
	if index(t, c, "k\x00") != nil || index(t, c, "k\x13") == nil {
		t.Error("other indexes were evicted than the oldest")
	}
}

// sizeOf returns the bytes of all files below a directory.
func sizeOf(t *testing.T, dir string) (sum int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			sum += info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return sum
}
