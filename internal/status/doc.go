// Package status is what a running server tells about itself: a [Status] for people and
// programs, metrics for Prometheus, and both as files in the mount.
//
// A [Meter] is told of each read and of each failure, by many readers at once, and costs
// a read less than 100 ns: atomic additions, and no lock but for reads that are slow.
// Reads, bytes, errors and latencies are counted once, in Prometheus' own counters; a
// Status is made from those.
//
// The package knows neither FUSE nor caches: whoever puts a server together says where
// the numbers of the cache come from.
package status
