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

// metadataLate is a source that delays metadata.
var metadataLate = lateness{metadata: time.Millisecond}

// gridName is the name of the mag of grid in the table.
const gridName = "2,000 cubes"

// grid makes a mag of many small cubes in many directories. The cubes are links to few files.
func (b *bench) grid(ctx context.Context) (mag, error) {
	m, err := b.sizes.rowOfCubes().make(ctx, b.dir, b.progress)
	if err != nil {
		return m, err
	}
	return m.repeat("names", b.sizes.grid, os.Link)
}

// firstBytes measures the time to the first byte of a volume right after mounting, then of another file of the
// volume, then of slices. The parameters are the limits in ms.
func (b *bench) firstBytes(raw, npy, slice float64) job {
	return b.firstBytesJob("first bytes of "+gridName, [3]float64{raw, npy, slice}, func(m mag) []peer { return b.pair(m, "") })
}

// firstBytesLate is firstBytes with a source that delays metadata.
func (b *bench) firstBytesLate(raw, npy, slice float64) job {
	return b.firstBytesJob(fmt.Sprintf("first bytes of %s, %v", gridName, metadataLate), [3]float64{raw, npy, slice}, func(m mag) []peer {
		return b.latePeers(m, "", metadataLate)
	})
}

func (b *bench) firstBytesJob(name string, limits [3]float64, peers func(mag) []peer) job {
	return job{
		name: name,
		figures: []figure{
			{"ms, volume.raw", []bound{atMost(limits[0], "")}},
			{"ms, volume.npy", []bound{atMost(limits[1], "")}},
			{"ms, a slice", []bound{atMost(limits[2], "")}},
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

// firstBytesOfSlices returns the median time of n slices that are distributed over the depth of the mag.
func (m mag) firstBytesOfSlices(mount string, n int) (ms float64, err error) {
	depth := m.cubes[2] * m.side()
	times := make([]float64, n)
	for i := range times {
		if times[i], err = firstByte(filepath.Join(mount, fmt.Sprintf("slices/z%07d.tif", i*depth/n))); err != nil {
			return 0, err
		}
	}
	return median(times), nil
}

// firstByte opens a file and reads its first byte. It returns the time in milliseconds.
func firstByte(path string) (ms float64, err error) {
	start := time.Now()
	err = readFile(path, make([]byte, 1))
	return time.Since(start).Seconds() * 1000, err
}

// listingLate lists the directories of cubes with the attributes of all entries.
func (b *bench) listingLate() job {
	return job{
		name:    fmt.Sprintf("ls -l of %s, %v", gridName, metadataLate),
		figures: []figure{{unit: "s"}},
		setup: func(ctx context.Context) ([]contender, error) {
			m, err := b.grid(ctx)
			return read(b.latePeers(m, "", metadataLate), decodedCold, func(ctx context.Context, r reading) (turn, error) {
				start := time.Now()
				n, err := ls(ctx, append([]string{"-l"}, m.directories(r.path)...)...)
				if names := 2 * m.cubes[0] * m.cubes[1] * m.cubes[2]; err == nil && n < names {
					err = fmt.Errorf("ls printed %d names, expected %d", n, names)
				}
				return turn{values: []float64{time.Since(start).Seconds()}}, err
			}), err
		},
	}
}

// directories returns the directories of the mag's cubes, below dir.
func (m mag) directories(dir string) []string {
	var all []string
	for c := range (volume.Box{Max: volume.Vec{1, m.cubes[1], m.cubes[2]}}).All() {
		all = append(all, filepath.Join(dir, filepath.Dir(cubeName(c))))
	}
	return all
}

// lateCommand returns the job that runs a command of the program with the mag as its source. The output of the
// command goes to a temporary directory.
func (b *bench) lateCommand(name string, args func(source, to string) []string) job {
	return job{
		name:    fmt.Sprintf("wkwfs %s of %s, %v", name, gridName, metadataLate),
		figures: []figure{{unit: "s"}},
		setup: func(ctx context.Context) ([]contender, error) {
			m, err := b.grid(ctx)
			by := func(name, program string, l lateness) contender {
				return contender{name: name, turn: func(ctx context.Context) (turn, error) {
					return b.runLate(ctx, m, l, func(source, to string) []string { return append([]string{program}, args(source, to)...) })
				}}
			}
			before := by(beforeName, b.before, metadataLate)
			before.absent, before.older = b.pair(m, "")[1].absent, true
			return []contender{by("wkwfs", b.program, metadataLate), by(promptName, b.program, lateness{}), before}, err
		},
	}
}

// runLate measures the time of a command whose source answers late.
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
	return b.lateCommand("check", func(source, _ string) []string { return []string{"check", source} })
}

func (b *bench) infoLate() job {
	return b.lateCommand("info", func(source, _ string) []string { return []string{"info", source} })
}

func (b *bench) copyLate() job {
	return b.lateCommand("cp", func(source, to string) []string { return []string{"cp", "--quiet", source, ".", to} })
}
