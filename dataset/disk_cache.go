package dataset

import (
	"cmp"
	"log/slog"
	"sync"

	"github.com/wkwfs/wkwfs/internal/stores/diskcache"
	"github.com/wkwfs/wkwfs/internal/stores/object"
)

// DiskCacheOptions say where a [DiskCache] is, and how large it may become.
type DiskCacheOptions struct {
	Dir            string // "": /var/cache/wkwfs for root, else wkwfs in the directory that the user has for caches
	Size           int64  // the most bytes on the disk; 0: 50 GiB
	MinFree        int64  // bytes of the disk that it leaves free
	MinFreePercent int    // percent of the disk that it leaves free; the larger of both counts
	Log            *slog.Logger
}

const defaultDiskCacheSize = 50 << 30

// DiskCache keeps on a local disk what is read from URLs, and indexes of compressed files. It is opened when a dataset
// first needs it. Several datasets and several processes may use the same directory at once. It is safe for concurrent
// use.
type DiskCache struct {
	options DiskCacheOptions

	mu    sync.Mutex
	cache *diskcache.Cache // nil before the first bucket
}

// NewDiskCache returns a disk cache for [Options].
func NewDiskCache(o DiskCacheOptions) *DiskCache { return &DiskCache{options: o} }

// bucket returns a bucket that reads through the cache.
func (c *DiskCache) bucket(b object.Bucket) (object.Bucket, error) {
	opened, err := c.open()
	if err != nil {
		return nil, err
	}
	return opened.Bucket(b), nil
}

// open opens the cache, unless it is open.
func (c *DiskCache) open() (*diskcache.Cache, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cache == nil {
		dir, err := c.options.Dir, error(nil)
		if dir == "" {
			if dir, err = diskcache.DefaultDir(); err != nil {
				return nil, err
			}
		}
		opened, err := diskcache.Open(dir, diskcache.Options{
			Size:           cmp.Or(c.options.Size, defaultDiskCacheSize),
			MinFree:        c.options.MinFree,
			MinFreePercent: c.options.MinFreePercent,
			Log:            c.options.Log,
		})
		if err != nil {
			return nil, err
		}
		c.cache = opened
	}
	return c.cache, nil
}

// Close writes what is pending, for up to three seconds. Datasets can still be read, and nothing more is kept.
func (c *DiskCache) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cache != nil {
		c.cache.Close()
	}
}

// DiskCacheStats are the numbers of a disk cache since it was opened by this process. UsedBytes and SizeBytes are for
// all processes.
type DiskCacheStats = diskcache.Stats

// Stats returns the numbers of the cache. ok is false if no dataset has needed it yet.
func (c *DiskCache) Stats() (s DiskCacheStats, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cache == nil {
		return s, false
	}
	return c.cache.Stats(), true
}
