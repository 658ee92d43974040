package main

import (
	"io/fs"
	"log/slog"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/internal/status"
)

// newMeter returns a meter for a mount.
func newMeter(s settings, mountpoint string, blocks *cache.Cache, source *source) *status.Meter {
	return status.NewMeter(status.Options{
		Version:    version().Version,
		Source:     s.source,
		Mountpoint: mountpoint,
		Cache: func() status.Cache {
			c := blocks.Stats()
			return status.Cache{
				BudgetBytes:  int64(s.cacheSize),
				HeldBytes:    c.HeldBytes,
				Hits:         c.Hits,
				Shared:       c.Shared,
				Decoded:      c.Loads - min(c.Failures, c.Loads),
				Failures:     c.Failures,
				DecodedBytes: c.LoadedBytes,
				Dropped:      c.Dropped,
			}
		},
		SourceIO: source.status,
	})
}

// withStatus lets the tree show what the meter knows, unless the name is taken.
func withStatus(meter *status.Meter, tree fs.FS, log *slog.Logger) fs.FS {
	shown, err := meter.Around(tree)
	if err != nil {
		log.Warn("wkwfs status will know nothing of this mount", "err", err)
		return tree
	}
	return shown
}
