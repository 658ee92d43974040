package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/wkwfs/wkwfs/volume"
)

// The names of contenders that write voxels or read a layer that is edited.
const (
	editName    = "wkwfs mount --edit"
	memmapName  = "wkwfs mount --edit, mmap"
	plainMemmap = "plain file, mmap"
)

// editable returns a file of the layer of Q in a mount where it can be written. The edits are new in each turn, unless
// a directory is given.
func (b *bench) editable(d *dataset, file, edits string) contender {
	below := b.form(d, "dataset")
	fresh := filepath.Join(b.dir, "edits")
	dir := edits
	if dir == "" {
		dir = fresh
	}
	c := b.wkwfs(local(below.path, cubeOf(d.mag)), filepath.Join(qLayer, file), "--edit", "segmentation="+dir)
	c = c.named(editName).with(below)
	mount := c.mount
	c.mount = func(ctx context.Context) (*mounted, error) {
		if err := os.RemoveAll(fresh); err != nil {
			return nil, err
		}
		m, err := mount(ctx)
		if err == nil {
			last := m.below
			m.below = func() error { return errors.Join(last(), os.RemoveAll(fresh)) }
		}
		return m, err
	}
	return c
}

// ddInto writes the plain file into the volume, its second half first, so that nearly all blocks differ from what they
// were. The figure is the time in seconds until all is durable.
func ddInto(flat string) work {
	return func(ctx context.Context, r reading) (turn, error) {
		const write = `dd if="$0" of="$1" bs=1M skip=$2 conv=notrunc && dd if="$0" of="$1" bs=1M seek=$2 count=$2 ` +
			`conv=notrunc,fsync`
		half := r.grid.Bytes() >> 21
		start := time.Now()
		t, err := timeCommand(ctx, r.grid.Bytes(), "sh", "-c", write, flat, r.path, fmt.Sprint(half))
		t.Values = []float64{time.Since(start).Seconds()}
		return t, err
	}
}

// ddIntoEdits returns dd into a layer that can be written, and an import of the same voxels.
func ddIntoEdits(b *bench, d *dataset) []contender {
	own := b.editable(d, "volume.raw", "")
	own.stored = append(slices.Clone(own.stored), d.flat)
	return []contender{own.by(editName, ddInto(d.flat)), b.writes(d, importName, b.importCommand(d))}
}

// writeBox writes a box of voxels into what is opened.
type writeBox func(r reading, box volume.Box, voxels []byte) error

// writeBoxes returns work that writes small boxes, one after the other, each until it is durable. They get voxels of
// other boxes. The figure is the median time of a box in milliseconds.
func (b *bench) writeBoxes(d *dataset, write writeBox) work {
	return func(_ context.Context, r reading) (t turn, err error) {
		var seconds []float64
		boxes := somePatches(r.grid)
		voxels := b.buffer(int64(patchSide * patchSide * patchSide * r.grid.VoxelBytes()))
		before := ownTime()
		for i, box := range boxes {
			if err := byRow(reading{d.flat, r.grid}, boxes[(i+1)%len(boxes)], voxels); err != nil {
				return t, err
			}
			start := time.Now()
			if err := write(r, box, voxels); err != nil {
				return t, err
			}
			seconds = append(seconds, time.Since(start).Seconds())
			t.Bytes += int64(len(voxels))
		}
		t.CPU = ownTime() - before
		t.Values = []float64{medianMS(seconds, t.Bytes)}
		return t, nil
	}
}

// intoBoxFile writes a file of box/. The path of r is that of the mag.
func intoBoxFile(r reading, box volume.Box, voxels []byte) error {
	f, err := os.OpenFile(filepath.Join(r.path, "box", box.String()+".raw"), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(voxels)
	return errors.Join(err, f.Close())
}

// intoMap writes rows of a flat file through a shared map, and syncs it.
func intoMap(r reading, box volume.Box, voxels []byte) (err error) {
	f, err := os.OpenFile(r.path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	m, err := unix.Mmap(int(f.Fd()), 0, int(r.grid.Bytes()), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unix.Munmap(m)) }()
	size := box.Size()
	n := size[0] * r.grid.VoxelBytes()
	for i := range (volume.Box{Max: volume.Vec{1, size[1], size[2]}}).All() {
		copy(m[box.Min.Add(i).Index(r.grid.Size)*r.grid.VoxelBytes():][:n], voxels)
		voxels = voxels[n:]
	}
	return unix.Msync(m, unix.MS_SYNC)
}

// boxesIntoEdits returns the ways to write small boxes.
func boxesIntoEdits(b *bench, d *dataset) []contender {
	copied := filepath.Join(b.dir, "output")
	plain := contender{Name: plainMemmap, file: copied, stored: []string{d.flat}}
	plain.mount = func(ctx context.Context) (*mounted, error) {
		dir, err := tempDir()
		m := &mounted{dir: dir, below: func() error { return os.RemoveAll(copied) }}
		return m, errors.Join(err, call(ctx, "cp", d.flat, copied))
	}
	plain.do = func(ctx context.Context, r reading) (turn, error) {
		return b.writeBoxes(d, intoMap)(ctx, reading{copied, r.grid})
	}
	return []contender{
		b.editable(d, "", "").by(editName, b.writeBoxes(d, intoBoxFile)),
		b.editable(d, "volume.raw", "").by(memmapName, b.writeBoxes(d, intoMap)),
		plain,
	}
}

// edited returns Q with edits of 5 % of its blocks, which have the same voxels, or with none, and Q itself.
func edited(form string) func(*bench, *dataset) []contender {
	return func(b *bench, d *dataset) []contender {
		below := b.form(d, "dataset")
		own := b.editable(d, "volume.raw", "")
		if form != "" {
			edits := b.form(d, form)
			own = b.editable(d, "volume.raw", edits.path).with(below, edits)
		}
		itself := b.wkwfs(local(below.path, cubeOf(d.mag)), qLayer+"/volume.raw").named(itselfName).with(below)
		return []contender{own, itself}
	}
}
