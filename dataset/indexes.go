package dataset

import (
	"fmt"
	"io"
	"log/slog"

	"github.com/wkwfs/wkwfs/internal/files/filesource"
)

// fileOptions returns how files of other programs are read that lie at a path or a URL, or below it.
func (d *directories) fileOptions(path string, as filesource.As, log *slog.Logger) filesource.Options {
	o := filesource.Options{As: as, Log: log}
	if d.options.DiskCache != nil {
		o.Indexes = indexes{d.options.DiskCache, path, log}
	}
	return o
}

// indexes keeps indexes of the files of a source in a disk cache.
type indexes struct {
	cache  *DiskCache
	source string // path or URL
	log    *slog.Logger
}

// key returns the key of an index in the cache, which has those of all sources.
func (i indexes) key(key []byte) []byte { return fmt.Appendf(nil, "%q %x", i.source, key) }

// Open implements [filesource.IndexStore].
func (i indexes) Open(key []byte) (filesource.Index, error) {
	c, err := i.cache.open()
	if err != nil {
		return nil, err
	}
	return c.OpenIndex(i.key(key))
}

// Put implements [filesource.IndexStore].
func (i indexes) Put(key []byte, most int64, write func(io.Writer) error) {
	c, err := i.cache.open()
	if err == nil {
		err = c.PutIndex(i.key(key), most, write)
	}
	if err != nil {
		i.log.Warn("the index of a compressed stream is not kept: the next mount unpacks it from its start", "err", err)
	}
}

// Remove implements [filesource.IndexStore].
func (i indexes) Remove(key []byte) {
	if c, err := i.cache.open(); err == nil {
		c.RemoveIndex(i.key(key))
	}
}
