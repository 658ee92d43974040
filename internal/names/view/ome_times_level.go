package view

import (
	"fmt"
	"io/fs"
	"slices"
	"strconv"

	"github.com/wkwfs/wkwfs/volume"
)

// omeTimesLevel presents the mags of the times as one array: its metadata, and a directory of chunks for each time.
type omeTimesLevel struct {
	omeLevel // of the first time
	image    omeTimes
}

func (l omeTimesLevel) list(yield func(entry, error) bool) {
	for _, name := range l.format.LevelFiles {
		if !yield(entry{name, l.file(name)}, nil) {
			return
		}
	}
	if l.format.ChunkPrefix != "" {
		yield(entry{l.format.ChunkPrefix, omeTimesChunks{l}}, nil)
		return
	}
	omeTimesChunks{l}.list(yield)
}

func (l omeTimesLevel) child(name string) (node, error) {
	switch {
	case slices.Contains(l.format.LevelFiles, name):
		return l.file(name), nil
	case l.format.ChunkPrefix == "":
		return omeTimesChunks{l}.child(name)
	case name == l.format.ChunkPrefix:
		return omeTimesChunks{l}, nil
	}
	return nil, fs.ErrNotExist
}

// file returns a file of metadata of the array.
func (l omeTimesLevel) file(name string) builtFile {
	return builtFile{name, l.d.m.Stat, func() ([]byte, error) {
		snap, err := l.d.snapshot()
		if err != nil {
			return nil, err
		}
		about := newOMEArray(snap).describe(l.key, snap)
		about.Times = l.image.n
		return l.format.Level(name, about)
	}}
}

// omeTimesChunks has a directory for each time.
type omeTimesChunks struct{ l omeTimesLevel }

func (d omeTimesChunks) stat() (fs.FileInfo, error) {
	return statDir(d.l.format.ChunkPrefix, d.l.d.m.Stat)
}

func (d omeTimesChunks) list(yield func(entry, error) bool) {
	for t := range d.l.image.n {
		if !yield(entry{strconv.Itoa(t), omeTime{d.l, t}}, nil) {
			return
		}
	}
}

func (d omeTimesChunks) child(name string) (node, error) {
	t, ok := volume.ParseIndex(name)
	if !ok || t >= d.l.image.n {
		return nil, fs.ErrNotExist
	}
	return omeTime{d.l, t}, nil
}

// omeTime has the chunks of a time.
type omeTime struct {
	l omeTimesLevel
	t int
}

func (d omeTime) stat() (fs.FileInfo, error) { return statDir(strconv.Itoa(d.t), d.l.d.m.Stat) }

func (d omeTime) list(yield func(entry, error) bool) {
	chunks, err := d.chunks()
	if err != nil {
		yield(entry{}, err)
		return
	}
	chunks.list(yield)
}

func (d omeTime) child(name string) (node, error) {
	chunks, err := d.chunks()
	if err != nil {
		return nil, err
	}
	return chunks.child(name)
}

// chunks returns the chunks of the mag at this time. It fails if they are not those of the array: what is absent would
// be zeros. So the error is never fs.ErrNotExist.
func (d omeTime) chunks() (omeChunks, error) {
	at := timeName(d.t)
	image, err := d.l.image.at(d.t)
	if err != nil {
		return omeChunks{}, fmt.Errorf("%s: %v", at, err)
	}
	found, err := image.levels().find(d.l.key)
	if err != nil {
		return omeChunks{}, fmt.Errorf("%s: mag %s: %v", at, d.l.key, err)
	}
	own, err := found.d.snapshot()
	if err != nil {
		return omeChunks{}, fmt.Errorf("%s: mag %s: %v", at, d.l.key, err)
	}
	first, err := d.l.d.snapshot()
	if err != nil {
		return omeChunks{}, fmt.Errorf("%s: mag %s: %v", timeName(0), d.l.key, err)
	}
	a, b := newOMEArray(own), newOMEArray(first)
	if a != b || own.Cube().Type != first.Cube().Type {
		return omeChunks{},
			fmt.Errorf(
				"%s: mag %s: expected %d × %v in chunks of %v up to %v, as in %s, found %d × %v in chunks of %v up to %v", at, d.l.key,
				b.channels, first.Cube().Type, b.chunk, b.extent.Max, timeName(0), a.channels, own.Cube().Type, a.chunk,
				a.extent.Max)
	}
	return omeChunks{l: omeLevel{found, d.l.format}, base: strconv.Itoa(d.t), hasC: true}, nil
}
