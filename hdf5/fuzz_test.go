package hdf5

import (
	"bytes"
	"testing"
)

// FuzzOpen reads everything of a file. No error but those of the package may come, in bounded time and memory.
func FuzzOpen(f *testing.F) {
	for _, name := range []string{"earliest.h5", "latest.h5", "filters.h5"} {
		f.Add(small(f, name))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) <= 1<<17 {
			walkFile(t, b)
		}
	})
}

// fuzzObjects are objects whose structures FuzzObject changes: together they have all of them. A file is read as far as
// one of them needs.
var fuzzObjects = []struct{ file, path string }{
	{"earliest.h5", "volumes/raw"}, {"earliest.h5", "plain"}, {"earliest.h5", "soft"}, {"earliest.h5", "type"},
	{"latest.h5", "fixed"}, {"latest.h5", "extensible"}, {"latest.h5", "tree"}, {"latest.h5", "single"},
	{"latest.h5", "sparse"}, {"latest.h5", "many"}, {"latest.h5", "many/link7"},
	{"filters.h5", "lzf"}, {"filters.h5", "scaled"}, {"filters.h5", "nbit"},
}

// FuzzObject writes some bytes somewhere into a small file, and reads one object of it. Checksums count only if sealed:
// otherwise a change would get no further. This is many times as fast as FuzzOpen.
func FuzzObject(f *testing.F) {
	files := map[string][]byte{}
	for i, o := range fuzzObjects {
		if files[o.file] == nil {
			files[o.file] = small(f, o.file)
		}
		for _, at := range []uint16{0, 48, 800, 2000, 5000, 9000} {
			f.Add(uint8(i), i%4 == 0, i%3 == 0, at+37*uint16(i), []byte{0xff, byte(i)}, uint16(100*i), []byte{1})
		}
	}
	f.Fuzz(func(t *testing.T, i uint8, sealed, parts bool, at uint16, patch []byte, at2 uint16, patch2 []byte) {
		o := fuzzObjects[int(i)%len(fuzzObjects)]
		b := bytes.Clone(files[o.file])
		copy(b[int(at)%len(b):], patch)
		copy(b[int(at2)%len(b):], patch2)
		file, err := openBytes(b)
		w := &walker{t: t, seen: map[uint64]bool{}}
		if !w.check(err) {
			return
		}
		file.unsealed = !sealed
		file.limit.headerBytes, file.limit.chunkBytes = 1<<16, 1<<16
		file.limit.names, file.limit.nodes = 1<<10, 1<<10
		if parts {
			file.limit.chunks, file.limit.partChunks = 0, 2*perPart
		}
		object, err := file.Lookup(o.path)
		if !w.check(err) {
			return
		}
		w.attributes(object)
		switch object := object.(type) {
		case *Group:
			_, err = object.Names()
			w.check(err)
		case *Dataset:
			w.dataset(object, 1<<16)
		}
	})
}

// FuzzDecode decodes a chunk of 64 bytes with the filters that are written here. The parameters are those of real
// chunks, changed by the fuzzer.
func FuzzDecode(f *testing.F) {
	f.Add(uint8(0), []byte{0, 'a', 0xe0, 54, 0}, uint32(0), uint32(0), uint32(0))
	f.Add(uint8(1), scaled(2, -1, make([]byte, 8)...), uint32(2), uint32(0), uint32(1))
	f.Add(uint8(1), scaled(5, 0, make([]byte, 10)...), uint32(4), uint32(1), uint32(0))
	f.Add(uint8(2), make([]byte, 36), uint32(2), uint32(9), uint32(3))
	f.Add(uint8(3), append([]byte{0, 0, 0, 0, 0, 0, 0, 64, 0, 0, 0, 64, 0, 0, 0, 64}, make([]byte, 64)...),
		uint32(0), uint32(0), uint32(0))
	f.Add(uint8(4), append([]byte{0, 0, 0, 0, 0, 0, 0, 64, 0, 0, 0, 64, 0, 0, 0, 2}, 0x10, 0), uint32(2),
		uint32(0), uint32(2))
	f.Fuzz(func(t *testing.T, kind uint8, stored []byte, x, y, z uint32) {
		const n = 64
		ids := []uint16{filterLZF, filterScaleOffset, filterNBit, filterLZ4, filterBitshuffle, filterShuffle}
		p := Filter{ID: ids[int(kind)%len(ids)]}
		elements := n / max(1, x)
		switch p.ID {
		case filterScaleOffset:
			class := uint32(0)
			if y&1 != 0 {
				class = 1
			}
			p.Client = []uint32{2 - 2*class, y >> 8, elements, class, x, 1, y >> 1, z, z >> 1, z >> 2}
		case filterNBit:
			p.Client = []uint32{8, 0, elements, 1, x, z >> 8, y, z}
		case filterBitshuffle:
			p.Client = []uint32{0, 3, x, y, z}
		case filterShuffle:
			p.Client = []uint32{x}
		}
		dst := make([]byte, n)
		if d, err := newFilter(p, n); err == nil {
			if out, err := d.Decode(dst, stored, n); err == nil && len(out) > n {
				t.Errorf("%d bytes", len(out))
			}
		}
		_ = decodeFilters([]Filter{p}, n, dst, stored, 0)
	})
}
