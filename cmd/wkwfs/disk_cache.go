package main

import (
	"log/slog"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/wkwfs/wkwfs/dataset"
	"github.com/wkwfs/wkwfs/internal/host/settings"
	"github.com/wkwfs/wkwfs/internal/small/hint"
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
	flags.StringVar(&d.dir, "disk-cache", "",
		"keep what is read from a URL in `DIR`; auto is /var/cache/wkwfs for root, else wkwfs in ~/.cache")
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

// diskCache is the disk cache of a command. It is safe for concurrent use.
type diskCache struct{ kept *dataset.DiskCache } // nil: none

// open returns the disk cache that the flags ask for. log may be nil.
func (d diskCacheFlags) open(log *slog.Logger) (*diskCache, error) {
	if d.dir == "" {
		return &diskCache{}, nil
	}
	if d.size < minDiskCacheSize {
		return nil, hint.Usagef("", "--disk-cache-size: expected at least 64MiB, found %s", d.size.String())
	}
	dir := d.dir
	if dir == autoDir {
		dir = ""
	}
	return &diskCache{dataset.NewDiskCache(dataset.DiskCacheOptions{
		Dir: dir, Size: int64(d.size), MinFree: d.minFree.Bytes, MinFreePercent: d.minFree.Percent, Log: log,
	})}, nil
}

// open opens a source that only this process reads, through the cache if it has a URL.
func (c *diskCache) open(from sourceFlags, path string, log *slog.Logger) (*dataset.Dataset, error) {
	o := from.options(log)
	o.DiskCache = c.kept
	return openSource(path, o)
}

// close writes what is pending, and closes the cache.
func (c *diskCache) close() {
	if c.kept != nil {
		c.kept.Close()
	}
}

// stats returns the numbers of the cache. used is false if there is none, or if the source has not needed it.
func (c *diskCache) stats() (s dataset.DiskCacheStats, used bool) {
	if c.kept == nil {
		return s, false
	}
	return c.kept.Stats()
}
