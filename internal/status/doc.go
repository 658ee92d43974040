// Package status reports what a running server does: as a [Status] for users and programs, as metrics for
// Prometheus, and as files in the mount.
//
// A [Meter] counts each read and each failed request. It is safe for concurrent use and takes less than 100
// ns for a read: atomic additions, and a lock only for slow reads. Reads, bytes, errors and latencies are
// counted once, in counters of Prometheus. A Status is computed from them.
//
// The package knows neither FUSE nor the cache. The caller passes functions that return the numbers of the
// cache and of the source.
//
// # Decisions
//
// The status is an fs.FS around the view. Package fsnode knows only that some files are live (vfs.LiveInfo): they are read
// past the page cache, with an owner of their own.
//
// A count exists once, in Prometheus' counters. Quantiles are computed from the histogram's ranges, and rates from
// samples of it.
package status
