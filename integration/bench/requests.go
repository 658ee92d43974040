package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/wkwfs/wkwfs/integration/cloudproxy"
	"github.com/wkwfs/wkwfs/integration/latefs"
	"github.com/wkwfs/wkwfs/volume"
)

// fileServerDelay is how late the file server answers reads when requests are counted.
const fileServerDelay = time.Millisecond

// requested is what a mount has asked its source for, from before it was mounted.
type requested struct {
	reads, others int64 // requests; of S3, reads are GETs of objects
	bytes         int64 // of the answers to reads; of S3, to all requests
}

// countedWork is work that reads a known number of bytes of voxels, from a file of a mount.
type countedWork struct {
	name, file string
	cache      int   // memory for decoded blocks in MiB
	voxels     int64 // bytes
	do         work
}

// requests counts the requests that a mount sends to a file server and to S3, for voxels that nothing was read of before. It is not
// about time: the figures of docs/clusters.md are from it.
func (b *bench) requests(data string) job {
	return job{
		name:    "requests for " + data,
		figures: []figure{{unit: "per GiB of voxels"}, {unit: "bytes per byte of voxels"}},
		once:    true,
		setup: func(ctx context.Context) ([]contender, error) {
			p, err := b.piece(ctx, data)
			if err != nil {
				return nil, err
			}
			c := &cube{}
			if c.mag, err = p.make(ctx, b.dir, b.progress); err != nil {
				return nil, err
			}
			if c.file, err = c.openCube(volume.Vec{}); err != nil {
				return nil, err
			}
			var all []contender
			for _, w := range b.countedWorks(c) {
				all = append(all,
					b.counted("file server, "+w.name, "", w, func(ctx context.Context) (turn, requested, error) { return b.countReads(ctx, c.mag, w) }),
					b.counted("S3, "+w.name, noGateway(), w, func(ctx context.Context) (turn, requested, error) { return b.countGETs(ctx, c.mag, w, anyPort) }),
					b.counted("S3, "+w.name+", filling a disk cache", noGateway(), w, func(ctx context.Context) (turn, requested, error) { return b.countCached(ctx, c.mag, w, 1) }),
					b.counted("S3, "+w.name+", second time with it", noGateway(), w, func(ctx context.Context) (turn, requested, error) { return b.countCached(ctx, c.mag, w, 2) }),
				)
			}
			return all, b.verify(ctx, c.mag, b.wkwfs(c.mag, cubeFile, b.cache))
		},
	}
}

// patchCache is the memory in MiB for decoded blocks of random patches. It has few of the blocks that a patch needs, as in a dataset
// that is much larger than the memory.
const patchCache = 32

// countedWorks returns what is counted: dd of the cube, and patches at random places.
func (b *bench) countedWorks(c *cube) []countedWork {
	patches := c.randomPatches(10 * b.sizes.few)
	bytes := int64(patchSide * patchSide * patchSide * c.file.Grid().VoxelBytes())
	return []countedWork{
		{"dd", cubeFile, b.cache, c.bytes(), dd},
		{"64³ patches", "", patchCache, int64(len(patches)) * bytes, func(_ context.Context, r reading) (turn, error) { return c.measureBoxFiles(r.path, patches) }},
	}
}

// counted returns a contender whose figures are what it has asked for.
func (b *bench) counted(name, absent string, w countedWork, count func(context.Context) (turn, requested, error)) contender {
	return contender{name: name, absent: absent, turn: func(ctx context.Context) (turn, error) {
		t, n, err := count(ctx)
		b.progress("%s: %d reads, %d other requests, %d bytes for %d bytes of voxels", name, n.reads, n.others, n.bytes, w.voxels)
		gib := float64(w.voxels) / (1 << 30)
		return turn{values: []float64{float64(n.reads+n.others) / gib, float64(n.bytes) / float64(w.voxels)}, sum: t.sum}, err
	}}
}

// countReads counts the requests to a file server.
func (b *bench) countReads(ctx context.Context, m mag, w countedWork) (t turn, n requested, err error) {
	dir, err := os.MkdirTemp("", "wkwfs-bench-")
	if err != nil {
		return t, n, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	l := lateness{reads: fileServerDelay, control: filepath.Join(dir, "control")}
	p := l.withSource(m, func(m mag) peer { return b.wkwfs(m, w.file, w.cache) })
	t, err = p.reads(decodedCold, func(ctx context.Context, r reading) (turn, error) {
		t, err := w.do(ctx, r)
		counts, countErr := latefs.Control(l.control).Do()
		n = requested{counts.Reads, counts.Metadata, counts.Bytes}
		return t, errors.Join(err, countErr)
	}).turn(ctx)
	return t, n, err
}

// countGETs counts the requests to S3, whose proxy has an address.
func (b *bench) countGETs(ctx context.Context, m mag, w countedWork, proxy string, flags ...string) (t turn, n requested, err error) {
	o := s3Options{proxy: proxy, ended: func(all []cloudproxy.Request) error {
		for _, r := range all {
			n.bytes += r.Bytes
			if r.Range == "" { // a listing, or a question for attributes
				n.others++
			} else {
				n.reads++
			}
		}
		return nil
	}}
	t, err = o.wkwfs(b, m, w.file, cloudDelay, append(flags, "--cache-size", fmt.Sprintf("%dMiB", w.cache))...).reads(decodedCold, w.do).turn(ctx)
	return t, n, err
}

// countCached counts the requests to S3 of a mount with a disk cache, which is empty for the first of several mounts. All of them
// have the same address of the server, which is a part of the keys of the cache.
func (b *bench) countCached(ctx context.Context, m mag, w countedWork, times int) (t turn, n requested, err error) {
	dir, err := os.MkdirTemp(b.dir, "disk-cache-")
	if err != nil {
		return t, n, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	address, err := freeAddress()
	if err != nil {
		return t, n, err
	}
	for i := range times {
		if t, n, err = b.countGETs(ctx, m, w, address, "--disk-cache", dir); err != nil {
			return t, n, fmt.Errorf("mount %d: %w", i+1, err)
		}
	}
	return t, n, nil
}
