package main

import (
	"errors"
	"log/slog"
	"net"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/dataset"
	"github.com/wkwfs/wkwfs/internal/serve/status"
	"github.com/wkwfs/wkwfs/internal/serve/web"
	"github.com/wkwfs/wkwfs/internal/small/log"
	"github.com/wkwfs/wkwfs/internal/stores/remote"
	"github.com/wkwfs/wkwfs/internal/stores/store"
)

// newMeter returns the meter of a mount.
func newMeter(s mountSettings, mountpoint string, logs log.Place, blocks *cache.Cache, opened *dataset.Dataset,
	disk *diskCache) *status.Meter {
	return status.NewMeter(status.Options{
		Version:    version().Version,
		Source:     remote.Display(s.source),
		Mountpoint: mountpoint,
		Log:        logStatus(logs),
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
		SourceIO:  func() status.SourceIO { return sourceIO(opened.Stats()) },
		DiskCache: func() status.DiskCache { s, _ := disk.stats(); return s },
	})
}

// logStatus converts the place of the log.
func logStatus(p log.Place) status.Log {
	s := status.Log{To: string(p.Kind), File: p.File}
	if p.Err != nil {
		s.Error = p.Err.Error()
	}
	return s
}

// logPlace is the inverse of logStatus.
func logPlace(s status.Log) log.Place {
	return log.Place{Kind: log.Kind(s.To), File: s.File, Err: errors.New(s.Error)}
}

// sourceIO converts the statistics of a source.
func sourceIO(s store.Stats) status.SourceIO {
	return status.SourceIO{
		Reads:         s.Reads.Count,
		ReadBytes:     s.Bytes,
		Lookups:       s.Lookups.Count,
		InFlight:      s.InFlight,
		MostInFlight:  s.MostInFlight,
		LongestWait:   s.LongestWait.Seconds(),
		ReadLatency:   latency(s.Reads),
		LookupLatency: latency(s.Lookups),
		Late:          s.Late,
		Requests:      s.Requests,
		Repeated:      s.Repeated,
	}
}

func latency(a store.Answers) status.Latency {
	return status.Latency{P50: a.P50.Seconds(), P99: a.P99.Seconds()}
}

// serveMetrics serves the metrics at the listener, if there is one, until stop is called. Requests
// for other hosts are refused, as they are by wkwfs serve.
func serveMetrics(l net.Listener, meter *status.Meter, log *slog.Logger) (stop func()) {
	if l == nil {
		return func() {}
	}
	return status.Serve(l, web.CheckHost(meter.Handler(), l.Addr()), log)
}
