package precomputed

import (
	"bytes"
	"errors"
	"io/fs"
	"math"
	"testing"
	"testing/fstest"

	"github.com/wkwfs/wkwfs/volume"
)

// FuzzInfo: any info file. Values computed from an accepted scale are in bounds.
func FuzzInfo(f *testing.F) {
	f.Add([]byte(goodInfo))
	sharded, _ := shardedInfo(f, murmurSpec)
	f.Add(sharded)
	f.Add([]byte(changed(f, `[20,17,9]`, `[1099511627776,1099511627776,1]`)))
	f.Fuzz(func(t *testing.T, b []byte) {
		i, err := parseInfo(b)
		if err != nil {
			return
		}
		for _, s := range i.scales {
			g := s.grid()
			if err := g.Validate(); err != nil || g.BlockBytes() > MaxChunkBytes || s.maxEncoded(s.chunk) < 1 {
				t.Fatalf("%+v: %v", s, err)
			}
			last := s.lattice.Size.Sub(volume.Cube(1))
			for _, c := range []volume.Vec{{}, last} {
				box := s.chunkBox(c)
				if size := box.Size(); min(size[0], size[1], size[2]) < 1 || size.Max(s.chunk) != s.chunk ||
					box.Intersect(s.bounds) != box {
					t.Fatalf("%+v: chunk %v is %v", s, c, box)
				}
				if back, ok := s.parseChunkName(s.chunkName(c)); !ok || back != c {
					t.Fatalf("%+v: chunk %v is parsed as %v, %v", s, c, back, ok)
				}
				if back, ok := s.lattice.Unmorton(s.lattice.Morton(c)); !ok || back != c {
					t.Fatalf("%+v: chunk %v has the Morton code of %v, %v", s, c, back, ok)
				}
			}
			if s.name == "" || s.name != directoryName(s.key) {
				t.Fatalf("key %q has the name %q", s.key, s.name)
			}
			if spec := s.sharding; spec != nil {
				at := spec.locate(math.MaxUint64)
				if n, ok := spec.parseStem(spec.stem(at.shard)); !ok || n != at.shard {
					t.Fatalf("%+v: shard %d is parsed as %d, %v", spec, at.shard, n, ok)
				}
			}
		}
	})
}

// FuzzChunkName: a name that is parsed is the name of that chunk.
func FuzzChunkName(f *testing.F) {
	_, s := infoFor(f, "8_8_30", "8_8_30")
	f.Add("-3-5_0-8_5-9")
	f.Add("13-17_16-17_9-13")
	f.Fuzz(func(t *testing.T, name string) {
		if c, ok := s.parseChunkName(name); ok && s.chunkName(c) != name {
			t.Fatalf("%q is parsed as chunk %v, %q", name, c, s.chunkName(c))
		}
	})
}

// FuzzMinishard: any bytes of an index.
func FuzzMinishard(f *testing.F) {
	f.Add(bytes.Repeat([]byte{1}, 48), int64(16))
	f.Fuzz(func(t *testing.T, b []byte, base int64) {
		if base < 0 {
			return
		}
		index, fault := parseMinishard(b, base)
		if fault != nil {
			if fault.offset < 0 || fault.offset > len(b) {
				t.Fatalf("a fault at byte %d of %d", fault.offset, len(b))
			}
			return
		}
		for i, e := range index {
			if e.offset < base || e.size < 0 || e.offset > math.MaxInt64-e.size || i > 0 && e.id <= index[i-1].id {
				t.Fatalf("entry %d: %+v", i, e)
			}
			if found, ok := index.find(e.id); !ok || found != e {
				t.Fatalf("entry %d: found %+v, %v", i, found, ok)
			}
		}
	})
}

// checkRobust lists and reads all chunks. Each is complete, absent or a FormatError, and a listed chunk is not absent.
func checkRobust(t *testing.T, files fstest.MapFS) {
	root, err := Recognise(files, ".", Options{})
	if err != nil {
		t.Fatal(err)
	}
	mag, err := root.Layer.Mag("8_8_30")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[volume.Vec]bool{}
	for c, err := range volume.AllCubes(mag) {
		if err != nil {
			t.Fatal(err)
		}
		listed[c] = true
	}
	s := mag.(*scale)
	for c := range (volume.Box{Max: s.lattice.Size}).All() {
		f, err := mag.OpenCube(c)
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) == listed[c] {
				t.Fatalf("chunk %v is listed: %v, and %v", c, listed[c], err)
			}
			continue
		}
		block, err := readBlock(t.Context(), f, volume.Vec{})
		if err == nil && len(block) != f.Grid().BlockBytes() || !listed[c] {
			t.Fatalf("chunk %v: %d bytes, listed: %v", c, len(block), listed[c])
		}
		if _, is := errors.AsType[*volume.FormatError](err); err != nil && !is {
			t.Fatalf("chunk %v: %v", c, err)
		}
	}
}

// FuzzShard: any bytes of a shard file.
func FuzzShard(f *testing.F) {
	specs := []string{identitySpec,
		`"hash":"identity","preshift_bits":0,"minishard_bits":1,"shard_bits":0,"minishard_index_encoding":"gzip","data_encoding":"gzip"`}
	for n, text := range specs {
		_, s := shardedInfo(f, text)
		chunks := map[uint64][]byte{}
		for c := range (volume.Box{Max: s.lattice.Size}).All() {
			chunks[s.lattice.Morton(c)] = voxelsOf(s, c)
		}
		f.Add(uint8(n), shardFiles(s.sharding, chunks)["0.shard"])
	}
	f.Add(uint8(0), puts(0, 0, 24, 0, 0, 0, 0, 256)(make([]byte, 32+24)))
	f.Fuzz(func(t *testing.T, n uint8, shard []byte) {
		b, _ := shardedInfo(t, specs[int(n)%len(specs)])
		checkRobust(t, fstest.MapFS{"info": {Data: b}, "8_8_30/0.shard": {Data: shard}})
	})
}

// FuzzChunk: any bytes of a chunk, in any encoding, in a plain or a .gz file.
func FuzzChunk(f *testing.F) {
	for n := range encodings {
		f.Add(uint8(n), false, make([]byte, 256))
		f.Add(uint8(n), true, gzipOf(make([]byte, 256)))
		f.Add(uint8(n), false, gzipOf(make([]byte, 300)))
	}
	f.Fuzz(func(t *testing.T, n uint8, suffixed bool, stored []byte) {
		e := encodings[int(n)%len(encodings)]
		b := []byte(changed(t, `"encoding":"raw"`,
			`"encoding":"`+e.name+`","compressed_segmentation_block_size":[8,8,8]`))
		if e.blockwise {
			b = bytes.Replace(b, []byte(`"uint8"`), []byte(`"uint32"`), 1)
		}
		name := name000
		if suffixed {
			name += gzipSuffix
		}
		checkRobust(t, fstest.MapFS{"info": {Data: b}, name: {Data: stored}})
	})
}
