package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"
)

// serveLate is the first argument of the program where it is to be a file system that answers late: package latefs.
const serveLate = "serve-late"

// lateness is how late a source answers.
type lateness struct{ reads, looks time.Duration }

func readsLate(ms int) lateness { return lateness{reads: time.Duration(ms) * time.Millisecond} }

func (l lateness) String() string {
	if l.reads > 0 {
		return fmt.Sprintf("reads %d ms late", l.reads.Milliseconds())
	}
	return fmt.Sprintf("metadata %d ms late", l.looks.Milliseconds())
}

// mount mounts a directory that answers late.
func (l lateness) mount(ctx context.Context, source string) (*mounted, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return serve(ctx, true, func(dir string) []string {
		return []string{self, serveLate, "-counts", "-read", l.reads.String(), "-look", l.looks.String(), source, dir}
	})
}

// notLateName is wkwfs with its source through the same file system, but not late.
const notLateName = "wkwfs, not late"

// over returns the peer with a source that answers late. again returns the peer of another mag.
func (l lateness) over(m mag, again func(mag) peer) peer {
	p := again(m)
	p.mount = func(ctx context.Context) (*mounted, error) {
		source, err := l.mount(ctx, m.dir)
		if err != nil {
			return nil, err
		}
		above := m
		above.dir = source.dir
		shown, err := again(above).mount(ctx)
		if err != nil {
			return nil, errors.Join(err, source.close())
		}
		shown.below = source
		return shown, nil
	}
	return p
}

// latePeers returns wkwfs with a source that answers late, with one that does not, and the wkwfs of -before.
func (b *bench) latePeers(m mag, file string, l lateness) []peer {
	ours := func(m mag) peer { return b.wkwfs(m, file, b.cache) }
	notLate := lateness{}.over(m, ours)
	notLate.name = notLateName
	before := l.over(m, func(m mag) peer { return b.pair(m, file)[1] })
	return []peer{l.over(m, ours), notLate, before}
}

// lateOfR is a job that reads R while reads are late, in files below the mount.
func (b *bench) lateOfR(what, file string, l lateness, f figure, do func(c *cube) work) job {
	return job{
		name:    fmt.Sprintf("%s, %v", what, l),
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

// ddLate reads the cube from start to end.
func (b *bench) ddLate(ms int, least float64) job {
	l := readsLate(ms)
	j := b.lateOfR("dd of R", cubeFile, l, figure{"GB/s", []bound{atLeast(least, notLateName)}}, func(*cube) work { return dd })
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

// boxesLate reads small boxes at random places.
func (b *bench) boxesLate(ms int) job {
	f := figure{"ms", []bound{atMostDelays(3, float64(ms), notLateName)}}
	return b.lateOfR("64³ box of R", "", readsLate(ms), f, func(c *cube) work {
		return func(_ context.Context, r reading) (turn, error) {
			return c.overBoxFiles(r.path, c.patches()[:b.sizes.few])
		}
	})
}

// preadsLate reads pages at random places, one after the other.
func (b *bench) preadsLate(ms int) job {
	f := figure{"ms, p50", []bound{atMostDelays(2, float64(ms), notLateName)}}
	return b.lateOfR("4 KiB random preads of R", cubeFile, readsLate(ms), f, func(c *cube) work {
		offsets := c.offsets()
		offsets = offsets[:min(b.sizes.few, len(offsets))]
		return func(ctx context.Context, r reading) (turn, error) {
			waits, sum, err := readPages(ctx, r.path, offsets, 1)
			if err != nil {
				return turn{}, err
			}
			slices.Sort(waits)
			return turn{values: []float64{micros(waits[len(waits)/2]) / 1000}, sum: sum}, nil
		}
	})
}

// manyReadersLate reads pages at random places by many readers.
func (b *bench) manyReadersLate(ms int) job {
	f := figure{"reads/s", []bound{atLeast(20, beforeName)}}
	return b.lateOfR("4 KiB random preads of R by 64 readers", cubeFile, readsLate(ms), f, func(c *cube) work {
		offsets := c.offsets()
		return func(ctx context.Context, r reading) (turn, error) {
			start := time.Now()
			_, sum, err := readPages(ctx, r.path, offsets, 64)
			return turn{values: []float64{float64(len(offsets)) / time.Since(start).Seconds()}, sum: sum}, err
		}
	})
}
