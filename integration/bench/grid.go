package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/wkwfs/wkwfs/volume"
)

// looksLate is a source whose metadata is late.
var looksLate = lateness{looks: time.Millisecond}

// gridName is how the table calls the mag of grid.
const gridName = "2,000 cubes"

// grid makes a mag of many small cubes in many directories, which are names of few files.
func (b *bench) grid(ctx context.Context) (mag, error) {
	m, err := b.sizes.rowOfCubes().make(ctx, b.dir, b.say)
	if err != nil {
		return m, err
	}
	return m.repeat("names", b.sizes.grid, os.Link)
}

// firstBytes is how long one waits for the first byte of a volume right after it was mounted, of another file of it,
// and of slices, one after the other.
func (b *bench) firstBytes(raw, npy, slice float64) job {
	return b.firstBytesOf("first bytes of "+gridName, [3]float64{raw, npy, slice}, func(m mag) []peer { return b.pair(m, "") })
}

func (b *bench) firstBytesLate(raw, npy, slice float64) job {
	return b.firstBytesOf(fmt.Sprintf("first bytes of %s, %v", gridName, looksLate), [3]float64{raw, npy, slice}, func(m mag) []peer {
		return b.latePeers(m, "", looksLate)
	})
}

func (b *bench) firstBytesOf(name string, most [3]float64, peers func(mag) []peer) job {
	return job{
		name: name,
		figures: []figure{
			{"ms, volume.raw", []bound{atMost(most[0], "")}},
			{"ms, volume.npy", []bound{atMost(most[1], "")}},
			{"ms, a slice", []bound{atMost(most[2], "")}},
		},
		setup: func(ctx context.Context) ([]contender, error) {
			m, err := b.grid(ctx)
			return read(peers(m), decodedCold, func(_ context.Context, r reading) (turn, error) {
				raw, err := firstByte(filepath.Join(r.path, volumeFile))
				if err != nil {
					return turn{}, err
				}
				npy, err := firstByte(filepath.Join(r.path, "volume.npy"))
				if err != nil {
					return turn{}, err
				}
				slice, err := m.firstBytesOfSlices(r.path, b.sizes.few)
				return turn{values: []float64{raw, npy, slice}}, err
			}), err
		},
	}
}

// firstBytesOfSlices returns the median for n slices, from one end of the mag to the other.
func (m mag) firstBytesOfSlices(mount string, n int) (ms float64, err error) {
	depth := m.cubes[2] * m.side()
	all := make([]float64, n)
	for i := range all {
		if all[i], err = firstByte(filepath.Join(mount, fmt.Sprintf("slices/z%07d.tif", i*depth/n))); err != nil {
			return 0, err
		}
	}
	return median(all), nil
}

// firstByte returns the milliseconds until a file is open and its first byte is read.
func firstByte(path string) (ms float64, err error) {
	start := time.Now()
	err = readFile(path, make([]byte, 1))
	return time.Since(start).Seconds() * 1000, err
}

// listingLate lists the directories of cubes with what there is to know about each entry.
func (b *bench) listingLate() job {
	return job{
		name:    fmt.Sprintf("ls -l of %s, %v", gridName, looksLate),
		figures: []figure{{unit: "s"}},
		setup: func(ctx context.Context) ([]contender, error) {
			m, err := b.grid(ctx)
			return read(b.latePeers(m, "", looksLate), decodedCold, func(ctx context.Context, r reading) (turn, error) {
				start := time.Now()
				n, err := ls(ctx, append([]string{"-l"}, m.directories(r.path)...)...)
				if names := 2 * m.cubes[0] * m.cubes[1] * m.cubes[2]; err == nil && n < names {
					err = fmt.Errorf("ls told %d names, not %d", n, names)
				}
				return turn{values: []float64{time.Since(start).Seconds()}}, err
			}), err
		},
	}
}

// directories is the directories of the mag's cubes, below dir.
func (m mag) directories(dir string) []string {
	var all []string
	for c := range (volume.Box{Max: volume.Vec{1, m.cubes[1], m.cubes[2]}}).All() {
		all = append(all, filepath.Join(dir, filepath.Dir(cubeName(c))))
	}
	return all
}

// commandLate runs a command of the program with the mag as its source. What it writes goes to another directory, and
// is removed.
func (b *bench) commandLate(name string, args func(source, to string) []string) job {
	return job{
		name:    fmt.Sprintf("wkwfs %s of %s, %v", name, gridName, looksLate),
		figures: []figure{{unit: "s"}},
		setup: func(ctx context.Context) ([]contender, error) {
			m, err := b.grid(ctx)
			by := func(name, program string, l lateness) contender {
				return contender{name: name, turn: func(ctx context.Context) (turn, error) {
					return b.runLate(ctx, m, l, func(source, to string) []string { return append([]string{program}, args(source, to)...) })
				}}
			}
			before := by(beforeName, b.before, looksLate)
			before.absent = b.pair(m, "")[1].absent
			return []contender{by("wkwfs", b.program, looksLate), by(notLateName, b.program, lateness{}), before}, err
		},
	}
}

// runLate measures how long a command takes whose source answers late.
func (b *bench) runLate(ctx context.Context, m mag, l lateness, args func(source, to string) []string) (t turn, err error) {
	if err := cacheFiles(ctx, m.files()); err != nil {
		return t, err
	}
	to, err := os.MkdirTemp(b.dir, "copy-")
	if err != nil {
		return t, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(to)) }()
	source, err := l.mount(ctx, m.dir)
	if err != nil {
		return t, err
	}
	defer func() { err = errors.Join(err, source.close()) }()
	command := args(source.dir, filepath.Join(to, "copy"))
	start := time.Now()
	err = call(ctx, command[0], command[1:]...)
	return turn{values: []float64{time.Since(start).Seconds()}}, err
}

func (b *bench) checkLate() job {
	return b.commandLate("check", func(source, _ string) []string { return []string{"check", source} })
}

func (b *bench) infoLate() job {
	return b.commandLate("info", func(source, _ string) []string { return []string{"info", source} })
}

func (b *bench) copyLate() job {
	return b.commandLate("cp", func(source, to string) []string { return []string{"cp", "--quiet", source, ".", to} })
}
