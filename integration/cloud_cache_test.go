//go:build clients

package integration

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/wkwfs/wkwfs/integration/cloudproxy"
)

// cachedLayer is larger than cloudLayer: reading it takes a while.
var cachedLayer = layer{
	model: model{blockLog: 4, cubeLog: 2, blockType: 2, voxelType: 2, channels: 1}, // cubes of 64³
	size:  [3]int{128, 128, 128},
	cubes: map[[3]int]bool{{0, 0, 0}: true, {1, 0, 0}: true, {0, 1, 0}: true, {1, 1, 1}: true, {0, 0, 1}: true},
}

// startCached starts the S3 server with the layer. It returns the path of the volume in a mount, and its bytes.
func startCached(t *testing.T) (c *cloud, file string, want []byte) {
	t.Helper()
	return startCloud(t, "s3", objects(t, cachedLayer)), "color/1/volume.raw",
		cachedLayer.box(cachedLayer.min, cachedLayer.max())
}

// bytesOfCubes returns how many bytes of cubes the server sent since the last call.
func bytesOfCubes(p *cloudproxy.Proxy) (n int64) {
	for _, r := range p.Requests() {
		if strings.HasSuffix(r.Path, ".wkw") && r.Method == "GET" {
			n += r.Bytes
		}
	}
	return n
}

// TestClientCloudCacheRestart checks that what one mount read comes from the disk cache for the next: the server sends
// no cube again. After a cube is replaced, its new content is read.
func TestClientCloudCacheRestart(t *testing.T) {
	t.Parallel()
	c, file, want := startCached(t)
	dir := filepath.Join(tempDir(t), "cache")
	for i := range 3 {
		s := c.mount(t, c.url, "--disk-cache", dir)
		got, err := os.ReadFile(filepath.Join(s.dir, file))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("mount %d: %d bytes, %v", i, len(got), err)
		}
		s.stop(t)
		if n := bytesOfCubes(c.proxy); (i == 0) != (n > 0) {
			t.Errorf("mount %d: the server sent %d bytes of cubes", i, n)
		}
	}
	changed := cachedLayer
	changed.seed = 9
	if err := putObject(filepath.Join(c.dir, "color/1/z0/y0/x0.wkw"), changed.model.file(t)); err != nil {
		t.Fatal(err)
	}
	s := c.mount(t, c.url, "--disk-cache", dir)
	if got, err := os.ReadFile(filepath.Join(s.dir, "color/1/z0/y0/x0.raw")); err != nil ||
		!bytes.Equal(got, changed.flat()) {
		t.Errorf("after a cube was replaced: %d bytes, %v", len(got), err)
	}
}

// TestClientCloudCacheKilled kills mounts while they fill the disk cache. The next mount reads the right bytes.
func TestClientCloudCacheKilled(t *testing.T) {
	t.Parallel()
	c, file, want := startCached(t)
	dir := filepath.Join(tempDir(t), "cache")
	kills := 5
	if *cloudAll {
		kills = 50
	}
	for i := range kills {
		s := c.mount(t, c.url, "--disk-cache", dir)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			if got, err := os.ReadFile(filepath.Join(s.dir, file)); err == nil && !bytes.Equal(got, want) {
				t.Errorf("kill %d: the bytes are wrong", i)
			}
		}()
		kill := time.NewTimer(time.Duration(i%5) * 4 * time.Millisecond)
		<-kill.C
		s.kill(t)
		<-ended
		mustRun(t, "umount", s.dir)
	}
	s := c.mount(t, c.url, "--disk-cache", dir)
	if got, err := os.ReadFile(filepath.Join(s.dir, file)); err != nil || !bytes.Equal(got, want) {
		t.Errorf("after the kills: %d bytes, %v", len(got), err)
	}
}

// TestClientCloudCacheShared reads through two mounts with one disk cache at a time, while cubes are replaced between
// the reads. Each reads what is there.
func TestClientCloudCacheShared(t *testing.T) {
	t.Parallel()
	c, file, want := startCached(t)
	dir := filepath.Join(tempDir(t), "cache")
	var mounts []*server
	for range 2 {
		mounts = append(mounts, c.mount(t, c.url, "--disk-cache", dir, "--disk-cache-size", "64MiB"))
	}
	var readers sync.WaitGroup
	for _, s := range mounts {
		readers.Go(func() {
			if got, err := os.ReadFile(filepath.Join(s.dir, file)); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%d bytes, %v", len(got), err)
			}
		})
	}
	readers.Wait()
	changed := cachedLayer.model
	for changed.seed = 1; changed.seed <= 3; changed.seed++ {
		if err := putObject(filepath.Join(c.dir, "color/1/z0/y0/x0.wkw"), changed.file(t)); err != nil {
			t.Fatal(err)
		}
		for i, s := range mounts {
			eventually(t, "the new cube is read", func() bool {
				got, err := os.ReadFile(filepath.Join(s.dir, "color/1/z0/y0/x0.raw"))
				if err == nil && !bytes.Equal(got, changed.flat()) {
					before := changed
					before.seed--
					if !bytes.Equal(got, before.flat()) {
						t.Errorf("mount %d, cube %d: neither the cube nor the one before", i, changed.seed)
					}
					return false
				}
				return err == nil
			})
		}
	}
}

// TestClientCloudCacheFull reads with a disk cache whose disk is full, and with one that disappears. Reads go on
// without it.
func TestClientCloudCacheFull(t *testing.T) {
	requireRoot(t)
	t.Parallel()
	c, file, want := startCached(t)
	disk := tempDir(t)
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=64k"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(disk, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	s := c.mount(t, c.url, "--disk-cache", filepath.Join(disk, "cache"), "--disk-cache-min-free", "0")
	if got, err := os.ReadFile(filepath.Join(s.dir, file)); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the disk is full: %d bytes, %v", len(got), err)
	}
	s.stop(t)
	s = c.mount(t, c.url, "--disk-cache", filepath.Join(disk, "cache"))
	if err := os.RemoveAll(filepath.Join(disk, "cache")); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(s.dir, file)); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the directory was removed: %d bytes, %v", len(got), err)
	}
	s.stop(t)
}
