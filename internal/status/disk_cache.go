package status

import "github.com/prometheus/client_golang/prometheus"

// DiskCache describes the cache on a disk of a source with a URL. It counts since the start of the server, except for UsedBytes and
// SizeBytes, which are those of all servers that share the directory. All is 0 if there is no such cache.
type DiskCache struct {
	Dir       string `json:"dir"`
	SizeBytes int64  `json:"size_bytes"` // the most that the disk may allocate for the cache
	UsedBytes int64  `json:"used_bytes"` // as last known

	Hits   uint64 `json:"hits"`   // reads without a request
	Shared uint64 `json:"shared"` // reads that waited for requests of other readers
	Misses uint64 `json:"misses"` // reads that made a request

	HitBytes     uint64 `json:"hit_bytes"`
	FetchedBytes uint64 `json:"fetched_bytes"` // read from the source
	WrittenBytes uint64 `json:"written_bytes"` // stored
	DroppedBytes uint64 `json:"dropped_bytes"` // not stored: the disk was too slow, full or read-only

	Evicted      uint64 `json:"evicted"` // files removed to make room; they have up to 2 MiB each
	EvictedBytes uint64 `json:"evicted_bytes"`
	Damaged      uint64 `json:"damaged"` // pages of 4 KiB with wrong checksums, read again from the source
}

// registerDiskCache registers the numbers of the disk cache.
func (m *Meter) registerDiskCache() {
	for _, c := range []struct {
		name, help string
		of         func(DiskCache) uint64
	}{
		{"hits", "Reads of a remote source that the disk cache answered.", func(d DiskCache) uint64 { return d.Hits }},
		{"shared", "Reads that waited for requests of other readers.", func(d DiskCache) uint64 { return d.Shared }},
		{"misses", "Reads that made a request to the remote source.", func(d DiskCache) uint64 { return d.Misses }},
		{"hit_bytes", "Bytes that the disk cache answered.", func(d DiskCache) uint64 { return d.HitBytes }},
		{"fetched_bytes", "Bytes read from the remote source.", func(d DiskCache) uint64 { return d.FetchedBytes }},
		{"written_bytes", "Bytes stored in the disk cache.", func(d DiskCache) uint64 { return d.WrittenBytes }},
		{"dropped_bytes", "Bytes not stored, because the disk was too slow, full or read-only.", func(d DiskCache) uint64 { return d.DroppedBytes }},
		{"evicted", "Files removed from the disk cache to make room.", func(d DiskCache) uint64 { return d.Evicted }},
		{"evicted_bytes", "Bytes removed from the disk cache to make room.", func(d DiskCache) uint64 { return d.EvictedBytes }},
		{"damaged_pages", "Pages of the disk cache with wrong checksums, which were read again.", func(d DiskCache) uint64 { return d.Damaged }},
	} {
		m.registry.MustRegister(prometheus.NewCounterFunc(
			prometheus.CounterOpts{Name: "wkwfs_disk_cache_" + c.name + "_total", Help: c.help},
			func() float64 { return float64(c.of(m.options.DiskCache())) }))
	}
	for _, g := range []struct {
		name, help string
		of         func(DiskCache) int64
	}{
		{"size", "Maximum size of the disk cache.", func(d DiskCache) int64 { return d.SizeBytes }},
		{"used", "Size of the disk cache.", func(d DiskCache) int64 { return d.UsedBytes }},
	} {
		m.registry.MustRegister(prometheus.NewGaugeFunc(
			prometheus.GaugeOpts{Name: "wkwfs_disk_cache_" + g.name + "_bytes", Help: g.help},
			func() float64 { return float64(g.of(m.options.DiskCache())) }))
	}
}
