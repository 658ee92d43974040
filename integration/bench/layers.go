package main

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/wkwfs/wkwfs/volume"
)

// volumeFile is the path of the flat file of a whole mag in a mount of the mag.
const volumeFile = "volume.raw"

// ddSegmentation reads a cube that is very easy to decode, so that the transfer to the reader is the
// bottleneck.
func (b *bench) ddSegmentation() job {
	return job{
		name:    "dd of S, decoded-cold",
		figures: []figure{{"GB/s", []bound{atLeast(0.85, memoryName)}}},
		setup: func(ctx context.Context) ([]contender, error) {
			m, err := b.sizes.segmentation().make(ctx, b.dir, b.progress)
			if err != nil {
				return nil, err
			}
			flat, err := m.flatFile(ctx)
			if err != nil {
				return nil, err
			}
			served, fromMemory := b.wkwfs(m, cubeFile, b.cache), inMemory(flat)
			return []contender{served.reads(decodedCold, dd), fromMemory.reads(decodedCold, dd)}, b.verify(ctx, m, served, fromMemory)
		},
	}
}

// smallCache is memory for blocks in MiB. It is less than one slab of L.
const smallCache = 64

// ddLayer reads a layer of many cubes with a cache that is smaller than a slab. The bytes that the server
// reads, divided by the size of the cube files, are how often it decodes a block.
func (b *bench) ddLayer() job {
	return job{
		name:    "dd of L, cache 64 MiB, decoded-cold",
		figures: []figure{{unit: "GB/s"}, {"times each block is read", []bound{atMost(1.1, "")}}},
		setup: func(ctx context.Context) ([]contender, error) {
			m, err := b.sizes.layer().make(ctx, b.dir, b.progress)
			if err != nil {
				return nil, err
			}
			stored, err := m.stored()
			if err != nil {
				return nil, err
			}
			p := b.wkwfs(m, volumeFile, smallCache)
			return []contender{p.reads(decodedCold, func(ctx context.Context, r reading) (turn, error) {
				before, err := bytesRead(r.pid)
				if err != nil {
					return turn{}, err
				}
				t, err := dd(ctx, r)
				if err != nil {
					return t, err
				}
				after, err := bytesRead(r.pid)
				t.values = append(t.values, float64(after-before)/float64(stored))
				return t, err
			})}, b.verify(ctx, m, p)
		},
	}
}

// depth is the number of cubes in z of the largest volume. L has one.
const depth = 4

// ddGrowing reads volumes of one cube, of L, and of more cubes.
func (b *bench) ddGrowing() job {
	const one, some, most = "wkwfs, 1 cube", "wkwfs, L", "wkwfs, 4 × L"
	return job{
		name:    "dd of a growing layer, decoded-cold",
		figures: []figure{{"GB/s", []bound{atLeast(0.9, one)}}},
		setup: func(ctx context.Context) ([]contender, error) {
			l, err := b.sizes.layer().make(ctx, b.dir, b.progress)
			if err != nil {
				return nil, err
			}
			first, err := l.repeat("first", volume.Cube(1), copyFile)
			if err != nil {
				return nil, err
			}
			b.progress("copying the cubes of %s, unless they are copied", l.name)
			whole, err := l.repeat("deep", volume.Vec{l.cubes[0], l.cubes[1], depth}, copyFile)
			if err != nil {
				return nil, err
			}
			var contenders []contender
			for _, c := range []struct {
				name string
				mag  mag
			}{{most, whole}, {some, l}, {one, first}} {
				p := b.wkwfs(c.mag, volumeFile, b.cache)
				p.name = c.name
				if err := b.verify(ctx, c.mag, p); err != nil {
					return nil, err
				}
				contenders = append(contenders, p.reads(decodedCold, dd))
			}
			return contenders, nil
		},
	}
}

// copyFile copies a cube. A link would be the same file for the server's cache.
func copyFile(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	return createOnce(to, info.Size(), func(part string) error {
		r, err := os.Open(from)
		if err != nil {
			return err
		}
		defer r.Close()
		w, err := os.Create(part)
		if err != nil {
			return err
		}
		_, err = io.Copy(w, r)
		return errors.Join(err, w.Close())
	})
}
