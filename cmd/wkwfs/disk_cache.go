package main

import (
	"log/slog"
	"path/filepath"
	"sync"

	"github.com/spf13/pflag"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/dataset"
	"github.com/wkwfs/wkwfs/internal/diskcache"
	"github.com/wkwfs/wkwfs/internal/hint"
	"github.com/wkwfs/wkwfs/internal/object"
	"github.com/wkwfs/wkwfs/internal/settings"
	"github.com/wkwfs/wkwfs/internal/status"
)

// diskCacheFlags are the flags of commands that may keep on a disk what they read from a URL.
type diskCacheFlags struct {
	dir     string // "": no cache. autoDir: the usual place
	size    settings.Size
	minFree settings.Free
}

const (
	autoDir = "auto"

	defaultDiskCacheSize    = 50 << 30
	defaultDiskCachePercent = 5

	// minDiskCacheSize has room for some requests.
	minDiskCacheSize = 64 << 20
)

func (d *diskCacheFlags) register(flags *pflag.FlagSet) {
	d.size, d.minFree = defaultDiskCacheSize, settings.Free{Percent: defaultDiskCachePercent}
	flags.StringVar(&d.dir, "disk-cache", "", "keep what is read from a URL in `DIR`; auto is /var/cache/wkwfs for root, else wkwfs in ~/.cache")
	flags.Var(&d.size, "disk-cache-size", "room on the disk for what is kept, such as 50GiB")
	flags.Var(&d.minFree, "disk-cache-min-free", "leave this much of the disk free, such as 10GiB or 5%")
}

// makeAbsolute makes the directory independent of the working directory.
func (d *diskCacheFlags) makeAbsolute() (err error) {
	if d.dir != "" && d.dir != autoDir {
		d.dir, err = filepath.Abs(d.dir)
	}
	return err
}

// diskCache is the disk cache of a command. It is opened for the first bucket, so that a source without a URL needs none. It is safe
// for concurrent use.
type diskCache struct {
	flags diskCacheFlags
	log   *slog.Logger

	mu    sync.Mutex
	cache *diskcache.Cache // nil before the first bucket
}

// open returns the disk cache that the flags ask for. log may be nil.
func (d diskCacheFlags) open(log *slog.Logger) (*diskCache, error) {
	if d.dir != "" && d.size < minDiskCacheSize {
		return nil, hint.Usagef("", "--disk-cache-size: expected at least 64MiB, found %s", d.size.String())
	}
	return &diskCache{flags: d, log: log}, nil
}

// open opens a source that only this process reads, through the cache if it has a URL.
func (c *diskCache) open(from sourceFlags, path string, log *slog.Logger) (*dataset.Source, error) {
	o := from.options(log)
	o.Wrap = c.bucket
	return openSource(path, o)
}

// newBlocks returns a cache of blocks for a source that was opened with the disk cache. The disk cache has copies of the bytes of
// requests, so fewer are in flight.
func (c *diskCache) newBlocks(size settings.Size) *cache.Cache {
	blocks := cache.New(int64(size))
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cache != nil {
		blocks.HalveLateLoads()
	}
	return blocks
}

// bucket returns a bucket that reads through the cache, or b if there is no cache.
func (c *diskCache) bucket(b object.Bucket) (object.Bucket, error) {
	tuneForObjects()
	if c.flags.dir == "" {
		return b, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cache == nil {
		dir, err := c.flags.dir, error(nil)
		if dir == autoDir {
			if dir, err = diskcache.DefaultDir(); err != nil {
				return nil, err
			}
		}
		c.cache, err = diskcache.Open(dir, diskcache.Options{
			Size:           int64(c.flags.size),
			MinFree:        c.flags.minFree.Bytes,
			MinFreePercent: c.flags.minFree.Percent,
			Log:            c.log,
		})
		if err != nil {
			c.cache = nil
			return nil, err
		}
	}
	return c.cache.Bucket(b), nil
}

// withoutDiskCache does for a bucket what a disk cache does that is off. It is for commands that have none.
func withoutDiskCache(b object.Bucket) (object.Bucket, error) { return (&diskCache{}).bucket(b) }

// close writes what is pending, and closes the cache.
func (c *diskCache) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cache != nil {
		c.cache.Close()
	}
}

// status returns the numbers of the cache. They are 0 if there is none.
func (c *diskCache) status() status.DiskCache {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cache == nil {
		return status.DiskCache{}
	}
	s := c.cache.Stats()
	return status.DiskCache{
		Dir: s.Dir, SizeBytes: s.Size, UsedBytes: s.Used,
		Hits: s.Hits, Shared: s.Shared, Misses: s.Misses,
		HitBytes: s.HitBytes, FetchedBytes: s.FetchedBytes, WrittenBytes: s.WrittenBytes, DroppedBytes: s.DroppedBytes,
		Evicted: s.Evicted, EvictedBytes: s.EvictedBytes, Damaged: s.Damaged,
	}
}
