package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"
)

// serveLate is the first argument that makes the program a file system that answers late: see package latefs.
const serveLate = "serve-late"

// lateness is the delay of a source's answers.
type lateness struct {
	reads, metadata time.Duration
	control         string // path of the socket of a latefs.Control; empty: none
}

func readsLate(ms int) lateness { return lateness{reads: time.Duration(ms) * time.Millisecond} }

func (l lateness) String() string {
	if l.reads > 0 {
		return fmt.Sprintf("reads %d ms late", l.reads.Milliseconds())
	}
	return fmt.Sprintf("metadata %d ms late", l.metadata.Milliseconds())
}

// mount mounts a directory with the delay.
func (l lateness) mount(ctx context.Context, source string) (*mounted, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return serve(ctx, true, func(dir string) []string {
		return []string{self, serveLate, "-counts", "-read", l.reads.String(), "-metadata", l.metadata.String(), "-control", l.control, source, dir}
	})
}

// promptName is the name of wkwfs with its source through the same file system, without delays.
const promptName = "wkwfs, not late"

// withSource returns a peer whose source has the delay. newPeer returns the peer of a mag.
func (l lateness) withSource(m mag, newPeer func(mag) peer) peer {
	p := newPeer(m)
	p.mount = func(ctx context.Context) (*mounted, error) {
		source, err := l.mount(ctx, m.dir)
		if err != nil {
			return nil, err
		}
		late := m
		late.dir = source.dir
		mounted, err := newPeer(late).mount(ctx)
		if err != nil {
			return nil, errors.Join(err, source.close())
		}
		mounted.below = source
		return mounted, nil
	}
	return p
}

// latePeers returns wkwfs with a source that answers late, wkwfs with a source that does not, and the wkwfs of
// -before.
func (b *bench) latePeers(m mag, file string, l lateness) []peer {
	measured := func(m mag) peer { return b.wkwfs(m, file, b.cache) }
	prompt := lateness{}.withSource(m, measured)
	prompt.name = promptName
	before := l.withSource(m, func(m mag) peer { return b.pair(m, file)[1] })
	return []peer{l.withSource(m, measured), prompt, before}
}

// lateJob returns a job that reads files of a mount of R while the source answers late.
func (b *bench) lateJob(name, file string, l lateness, f figure, do func(c *cube) work) job {
	return job{
		name:    fmt.Sprintf("%s, %v", name, l),
		figures: []figure{f},
		setup: func(ctx context.Context) ([]contender, error) {
			c, err := b.open(ctx, dataR)
			if err != nil {
				return nil, err
			}
			return read(b.latePeers(c.mag, file, l), decodedCold, do(c)), nil
		},
	}
}

// ddLate reads R from start to end. least is the minimum of the ratio to wkwfs without delays.
func (b *bench) ddLate(ms int, least float64) job {
	l := readsLate(ms)
	j := b.lateJob("dd of R", cubeFile, l, figure{"GB/s", []bound{atLeast(least, promptName)}}, func(*cube) work { return dd })
	setup := j.setup
	j.setup = func(ctx context.Context) ([]contender, error) {
		all, err := setup(ctx)
		if err != nil {
			return nil, err
		}
		c := b.cubes[dataR]
		return all, b.verify(ctx, c.mag, b.latePeers(c.mag, cubeFile, l)[0])
	}
	return j
}

// boxesLate reads small boxes at random positions.
func (b *bench) boxesLate(ms int) job {
	f := figure{"ms", []bound{atMostDelays(3, float64(ms), promptName)}}
	return b.lateJob("64³ box of R", "", readsLate(ms), f, func(c *cube) work {
		return func(_ context.Context, r reading) (turn, error) {
			return c.measureBoxFiles(r.path, c.patches()[:b.sizes.few])
		}
	})
}

// preadsLate reads pages at random offsets, one after the other.
func (b *bench) preadsLate(ms int) job {
	f := figure{"ms, p50", []bound{atMostDelays(2, float64(ms), promptName)}}
	return b.lateJob("4 KiB random preads of R", cubeFile, readsLate(ms), f, func(c *cube) work {
		offsets := c.offsets()
		offsets = offsets[:min(b.sizes.few, len(offsets))]
		return func(ctx context.Context, r reading) (turn, error) {
			times, sum, err := readPages(ctx, r.path, offsets, 1)
			if err != nil {
				return turn{}, err
			}
			slices.Sort(times)
			return turn{values: []float64{micros(times[len(times)/2]) / 1000}, sum: sum}, nil
		}
	})
}

// manyReadersLate reads pages at random offsets by 64 readers.
func (b *bench) manyReadersLate(ms int) job {
	f := figure{"reads/s", []bound{atLeast(20, beforeName)}}
	return b.lateJob("4 KiB random preads of R by 64 readers", cubeFile, readsLate(ms), f, func(c *cube) work {
		offsets := c.offsets()
		return func(ctx context.Context, r reading) (turn, error) {
			start := time.Now()
			_, sum, err := readPages(ctx, r.path, offsets, 64)
			return turn{values: []float64{float64(len(offsets)) / time.Since(start).Seconds()}, sum: sum}, err
		}
	})
}
