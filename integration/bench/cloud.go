package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/wkwfs/wkwfs/integration/cloudproxy"
)

// The names of contenders that read from S3.
const (
	rangesName = "64 range GETs, not late"
	rcloneName = "rclone of a raw object, vfs-cache full"
	s3fsName   = "s3fs of a raw object"
	nearName   = "wkwfs, a directory"
)

// cloudDelay is how late the S3 server of the benchmark answers.
const cloudDelay = 50 * time.Millisecond

// cloudMargin is the time of a read in milliseconds beside its round trips.
const cloudMargin = 20

// fewTrips returns the bound of a read with a number of dependent requests.
func fewTrips(n int) bound {
	return atMost(float64(n)*cloudDelay.Seconds()*1000+cloudMargin, "")
}

// cloudJob returns a job that reads R from S3. peers returns the contenders beside wkwfs.
func (b *bench) cloudJob(name string, figures []figure, do func(*cube) func() work, file string, others func(*cube) []peer) job {
	return job{
		name:    fmt.Sprintf("%s from S3, %d ms late", name, cloudDelay.Milliseconds()),
		figures: figures,
		setup: func(ctx context.Context) ([]contender, error) {
			c, err := b.open(ctx, dataR)
			if err != nil {
				return nil, err
			}
			var all []contender
			for _, p := range append([]peer{b.wkwfsS3(c.mag, file, cloudDelay)}, others(c)...) {
				all = append(all, p.reads(decodedCold, do(c)()))
			}
			return all, nil
		},
	}
}

// ddCloud reads R from start to end. The bandwidth of the server is what 64 requests at a time get of the stored file.
func (b *bench) ddCloud(least float64) job {
	figures := []figure{{unit: "voxels, GB/s"}, {"stored bytes, GB/s", []bound{atLeast(least, rangesName)}}}
	do := func(c *cube) func() work {
		return func() work {
			return func(ctx context.Context, r reading) (turn, error) {
				t, err := dd(ctx, r)
				if err != nil {
					return t, err
				}
				share := 1.0
				if filepath.Base(r.path) == filepath.Base(cubeFile) {
					stored, err := c.stored()
					if err != nil {
						return t, err
					}
					share = float64(stored) / float64(c.bytes())
				}
				t.values = append(t.values, t.values[0]*share)
				return t, nil
			}
		}
	}
	j := b.cloudJob("dd of R", figures, do, cubeFile, func(c *cube) []peer { return []peer{b.rclone(c.flat, cloudDelay), b.s3fs(c.flat, cloudDelay)} })
	setup := j.setup
	j.setup = func(ctx context.Context) ([]contender, error) {
		all, err := setup(ctx)
		if err != nil {
			return nil, err
		}
		c := b.cubes[dataR]
		all = append(all, contender{name: rangesName, absent: noGateway(), turn: c.measureServer})
		return all, b.verify(ctx, c.mag, b.wkwfsS3(c.mag, cubeFile, cloudDelay))
	}
	return j
}

// measureServer reads the stored file of the cube with 64 requests at a time.
func (c *cube) measureServer(ctx context.Context) (t turn, err error) {
	const piece = 1 << 20
	path := c.files()[0]
	info, err := os.Stat(path)
	if err != nil {
		return t, err
	}
	if err := cacheFiles(ctx, c.files()); err != nil {
		return t, err
	}
	s, err := startS3(ctx, c.dir, 0, anyPort)
	if err != nil {
		return t, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	defer client.CloseIdleConnections()
	key, err := filepath.Rel(c.dir, path)
	if err != nil {
		return t, err
	}
	g, ctx := errgroup.WithContext(ctx)
	next := make(chan int64)
	start := time.Now()
	for range 64 {
		g.Go(func() error {
			buffer := make([]byte, 256<<10)
			for off := range next {
				if _, err := s.getRange(ctx, client, key, off, min(off+piece, info.Size()), buffer); err != nil {
					return err
				}
			}
			return nil
		})
	}
	g.Go(func() error {
		defer close(next)
		for off := int64(0); off < info.Size(); off += piece {
			select {
			case next <- off:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	err = g.Wait()
	stored := float64(info.Size()) / 1e9 / time.Since(start).Seconds()
	t.values = []float64{stored * float64(c.bytes()) / float64(info.Size()), stored}
	return t, err
}

// discard reads to the end and returns the number of bytes.
func discard(r io.Reader, buffer []byte) (int64, error) {
	return io.CopyBuffer(struct{ io.Writer }{io.Discard}, r, buffer)
}

// patchCloud reads one box of a mount that has read nothing before.
func (b *bench) patchCloud() job {
	do := func(c *cube) func() work {
		return func() work {
			n := 0
			return func(_ context.Context, r reading) (turn, error) {
				patches := c.patches()
				n++
				return c.measureBoxFiles(r.path, patches[n%len(patches):][:1])
			}
		}
	}
	return b.cloudJob("one cold 64³ box of R", []figure{{"ms", []bound{fewTrips(3)}}}, do, "", func(c *cube) []peer {
		prompt := b.wkwfsS3(c.mag, "", 0)
		prompt.name = promptName
		return []peer{prompt}
	})
}

// preadCloud reads one page of a file that nothing has been read of before.
func (b *bench) preadCloud() job {
	do := func(c *cube) func() work {
		return func() work {
			n := 0
			return func(ctx context.Context, r reading) (turn, error) {
				offsets := c.offsets()
				n++
				times, sum, err := readPages(ctx, r.path, offsets[n%len(offsets):][:1], 1)
				if err != nil {
					return turn{}, err
				}
				return turn{values: []float64{micros(times[0]) / 1000}, sum: sum}, nil
			}
		}
	}
	return b.cloudJob("one cold 4 KiB pread of R", []figure{{"ms", []bound{fewTrips(3)}}}, do, cubeFile, func(c *cube) []peer {
		prompt := b.wkwfsS3(c.mag, cubeFile, 0)
		prompt.name = promptName
		return []peer{prompt, b.rclone(c.flat, cloudDelay), b.s3fs(c.flat, cloudDelay)}
	})
}

// fewBytesAgain returns a function that fails if a mount reads more bytes than most from the server, other than the first one. The
// first one does not store what waits too long for the disk.
func fewBytesAgain(most int64) func(all []cloudproxy.Request) error {
	first := true
	return func(all []cloudproxy.Request) error {
		var n int64
		for _, r := range all {
			n += r.Bytes
		}
		if !first && n > most {
			return fmt.Errorf("the disk cache was not used: %d bytes came from the server", n)
		}
		first = false
		return nil
	}
}

// ddDiskCache reads R for the second time: a mount before has filled the disk cache. All mounts have the same address of the server,
// which is a part of the keys of the cache.
func (b *bench) ddDiskCache(least float64) job {
	return job{
		name:    fmt.Sprintf("dd of R from S3, %d ms late, second time", cloudDelay.Milliseconds()),
		figures: []figure{{"GB/s", []bound{atLeast(least, nearName)}}},
		setup: func(ctx context.Context) ([]contender, error) {
			c, err := b.open(ctx, dataR)
			if err != nil {
				return nil, err
			}
			dir := filepath.Join(b.dir, "disk-cache")
			if err := os.RemoveAll(dir); err != nil {
				return nil, err
			}
			address, err := freeAddress()
			if err != nil {
				return nil, err
			}
			stored, err := c.stored()
			if err != nil {
				return nil, err
			}
			o := s3Options{proxy: address, ended: fewBytesAgain(stored / 4)}
			p := o.wkwfs(b, c.mag, cubeFile, cloudDelay, "--disk-cache", dir)
			near := b.wkwfs(c.mag, cubeFile, b.cache)
			near.name = nearName
			return read([]peer{p, near}, decodedCold, dd), b.verify(ctx, c.mag, p)
		},
	}
}

// listingCloud mounts and lists 100,000 cubes on S3.
func (b *bench) listingCloud() job {
	return job{
		name:    fmt.Sprintf("mounting and listing 100,000 cubes on S3, %d ms late", cloudDelay.Milliseconds()),
		figures: []figure{{"s", []bound{atMost(3, "")}}},
		setup: func(ctx context.Context) ([]contender, error) {
			m, err := b.names(ctx)
			on := func(name string, late time.Duration) contender {
				return contender{name: name, absent: noGateway(), turn: func(ctx context.Context) (turn, error) { return b.listOnce(ctx, m, late) }}
			}
			return []contender{on("wkwfs", cloudDelay), on(promptName, 0)}, err
		},
	}
}

// listOnce measures the time to mount a mag on S3 and to list its cubes.
func (b *bench) listOnce(ctx context.Context, m mag, late time.Duration) (t turn, err error) {
	s, err := startS3(ctx, m.dir, late, anyPort)
	if err != nil {
		return t, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	dir, err := os.MkdirTemp("", "wkwfs-bench-")
	if err != nil {
		return t, err
	}
	remote := m
	remote.dir = "s3://" + bucket
	args := b.mountCommand(b.program, remote, dir, b.cache, "--anonymous", "--endpoint", s.url)
	start := time.Now()
	err = callToEnd(args[0], args[1:]...)
	if err == nil {
		err = b.listNames(ctx, dir)
	}
	t.values = []float64{time.Since(start).Seconds()}
	if on, _ := isMountpoint(dir); on {
		err = errors.Join(err, unmount(dir))
	}
	return t, errors.Join(err, os.Remove(dir))
}
