package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"

	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw"
)

// verify compares the flat files of peers with the voxels of the mag, so that no contender is fast because it
// is wrong.
func (b *bench) verify(ctx context.Context, m mag, peers ...peer) error {
	b.progress("comparing the bytes of all contenders with those of %s", m.name)
	for _, p := range peers {
		if err := m.verify(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// verify compares a peer's flat file with the voxels of the mag. An older peer need not have the file.
func (m mag) verify(ctx context.Context, p peer) (err error) {
	if p.absent != "" {
		return nil
	}
	mounted, path, err := p.open(ctx)
	if err != nil {
		return p.lacking(err)
	}
	if mounted != nil {
		defer func() { err = errors.Join(err, mounted.close()) }()
	}
	f, err := os.Open(path)
	if err != nil {
		return p.lacking(err)
	}
	defer f.Close()
	if err := m.compare(ctx, f); err != nil {
		return fmt.Errorf("%s: %s: %w", p.name, filepath.Base(path), err)
	}
	return nil
}

// lacking returns the error of opening the file of a peer, or nil if the peer is an older one.
func (p peer) lacking(err error) error {
	if p.older {
		return nil
	}
	return err
}

// compare compares all bytes of r with the voxels of the mag.
func (m mag) compare(ctx context.Context, r io.Reader) error {
	var got []byte
	var at int64
	for want, err := range m.slabs(ctx) {
		if err != nil {
			return err
		}
		got = append(got[:0], want...)
		if _, err := io.ReadFull(r, got); err != nil {
			return fmt.Errorf("at byte %d: %w", at, err)
		}
		if !bytes.Equal(got, want) {
			return fmt.Errorf("bytes %d to %d differ from those of the cubes", at, at+int64(len(want)))
		}
		at += int64(len(want))
	}
	if n, err := r.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
		return fmt.Errorf("at byte %d: expected the end, found %d bytes, error %v", at, n, err)
	}
	return nil
}

// slabs yields the voxels of the whole mag, one slab after the other. All slabs use the same memory.
func (m mag) slabs(ctx context.Context) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		blocks := m.header.CubeBlocks
		slab := make([]byte, m.bytes()/int64(m.cubes[2]*blocks))
		for z := range m.cubes[2] * blocks {
			err := m.slab(ctx, z/blocks, z%blocks, slab)
			if !yield(slab, err) || err != nil {
				return
			}
		}
	}
}

// slab decodes one slab of the cubes at z.
func (m mag) slab(ctx context.Context, z, slab int, flat []byte) error {
	for c := range (volume.Box{Min: volume.Vec{0, 0, z}, Max: volume.Vec{m.cubes[0], m.cubes[1], z + 1}}).All() {
		cube, err := m.openCube(c)
		if err != nil {
			return err
		}
		blocks := cube.Grid().Blocks()
		box := volume.Box{Min: volume.Vec{0, 0, slab}, Max: volume.Vec{blocks[0], blocks[1], slab + 1}}
		at := volume.Vec{c[0] * m.side(), c[1] * m.side(), -slab * blockSide}
		size := volume.Vec{m.cubes[0] * m.side(), m.cubes[1] * m.side(), blockSide}
		if err := errors.Join(decodeInto(ctx, cube, box, flat, size, at), cube.Close()); err != nil {
			return err
		}
	}
	return nil
}

// openCube opens a cube of the mag.
func (m mag) openCube(c volume.Vec) (*wkw.File, error) {
	return wkw.OpenFile(os.DirFS(m.dir), cubeName(c))
}

// files returns the paths of all cubes.
func (m mag) files() []string {
	var paths []string
	for c := range (volume.Box{Max: m.cubes}).All() {
		paths = append(paths, filepath.Join(m.dir, cubeName(c)))
	}
	return paths
}
