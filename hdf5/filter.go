package hdf5

import (
	"errors"
	"fmt"

	"github.com/wkwfs/wkwfs/internal/arrays/codec"
	"github.com/wkwfs/wkwfs/internal/small/scratch"
)

// The filters. Those from 256 on are registered with The HDF Group.
const (
	filterDeflate     = 1
	filterShuffle     = 2
	filterFletcher32  = 3
	filterSzip        = 4
	filterNBit        = 5
	filterScaleOffset = 6
	filterBzip2       = 307
	filterLZF         = 32000
	filterBlosc       = 32001
	filterLZ4         = 32004
	filterBitshuffle  = 32008
	filterZstd        = 32015
)

// refusedFilters have names, but no decoder here.
var refusedFilters = map[uint16]string{filterSzip: "szip", 305: "LZO", 32013: "ZFP", 32017: "SZ",
	32019: "JPEG", 32024: "SZ3",
	32026: "Blosc 2", 257: "hzip", 258: "fpzip", 32012: "JPEG XR", 32018: "FCIDECOMP", 32028: "B3D"}

// decoder is a filter. It has the methods of a codec.
type decoder interface {
	// Decode decodes src into dst[:limit], and returns the decoded bytes. They may be elsewhere if dst is too short.
	Decode(dst, src []byte, limit int) ([]byte, error)
	// Bound returns how many bytes n decoded ones may take.
	Bound(n int) int
	String() string
}

// sized is a filter that does not change how many bytes there are, or by how much is known.
type sized interface{ exact() }

// newFilter returns the decoder of a filter. chunkBytes are those of a decoded chunk.
func newFilter(f Filter, chunkBytes int) (decoder, error) {
	switch f.ID {
	case filterDeflate:
		return codec.Zlib{}, nil
	case filterShuffle:
		return newShuffle(f, chunkBytes)
	case filterFletcher32:
		return fletcher32{}, nil
	case filterNBit:
		return newNBit(f.Client, chunkBytes)
	case filterScaleOffset:
		return newScaleOffset(f.Client, chunkBytes)
	case filterBzip2:
		return codec.Bzip2{}, nil
	case filterLZF:
		return lzf{}, nil
	case filterBlosc:
		return codec.Blosc{}, nil
	case filterLZ4:
		return lz4{}, nil
	case filterBitshuffle:
		return newBitshuffle(f.Client)
	case filterZstd:
		return codec.Zstd{}, nil
	}
	name := refusedFilters[f.ID]
	if name == "" {
		name = shorten(f.Name)
	}
	return nil, notSupported("the filter %d %s", f.ID, name)
}

// DecodeChunk decodes the stored bytes of a chunk into dst, which has [Dataset.ChunkBytes]. mask is the filter mask
// of the chunk. A chunk that decodes to more or fewer bytes is an error. dst and stored must not overlap.
func (d *Dataset) DecodeChunk(dst, stored []byte, mask uint32) error {
	if len(dst) != d.chunkBytes {
		return fmt.Errorf("HDF5: %d bytes for a chunk of %d", len(dst), d.chunkBytes)
	}
	if err := decodeFilters(d.filters, d.chunkBytes, dst, stored, mask); err != nil {
		return named(d.path, filterError(d.header.addr, "chunk", err))
	}
	return nil
}

// filterError returns the error for bytes that do not decode.
func filterError(addr uint64, what string, err error) error {
	var unsupported *NotSupportedError
	if errors.As(err, &unsupported) {
		return err
	}
	return &FormatError{Address: addr, Field: what, Err: err}
}

// decodeFilters reverses the filters, last one first. The result has n bytes, as dst.
func decodeFilters(filters []Filter, n int, dst, src []byte, mask uint32) error {
	steps, limits, exact, err := plan(filters, n, mask)
	if err != nil {
		return err
	}
	var held [2]*[]byte // results of steps, by turns
	defer func() {
		for _, b := range held {
			if b != nil {
				scratch.Put(b)
			}
		}
	}()
	for i := len(steps) - 1; i >= 0; i-- {
		to := dst
		if i > 0 {
			b := held[i%2]
			if b == nil || len(*b) < limits[i] {
				if b != nil {
					scratch.Put(b)
					held[i%2] = nil
				}
				b = scratch.Get(limits[i])
				held[i%2] = b
			}
			to = *b
		}
		out, err := steps[i].Decode(to, src, limits[i])
		if err != nil {
			return fmt.Errorf("filter %v: %w", steps[i], err)
		}
		if exact[i] && len(out) != limits[i] {
			return fmt.Errorf("filter %v: expected %d decoded bytes, found %d", steps[i], limits[i], len(out))
		}
		src = out
	}
	if len(src) != n {
		return fmt.Errorf("expected %d bytes, found %d", n, len(src))
	}
	if n > 0 && &src[0] != &dst[0] {
		copy(dst, src)
	}
	return nil
}

// plan returns the filters that mask leaves, how many bytes each decodes to at most, and whether it must be exactly
// as many.
func plan(filters []Filter, n int, mask uint32) (steps []decoder, limits []int, exact []bool, err error) {
	limit, known := n, true
	for i, f := range filters {
		if mask>>i&1 != 0 {
			continue
		}
		step, err := newFilter(f, n)
		if err != nil {
			return nil, nil, nil, err
		}
		steps, limits, exact = append(steps, step), append(limits, limit), append(exact, known)
		limit = step.Bound(limit)
		if _, ok := step.(sized); !ok {
			known = false
		}
	}
	return steps, limits, exact, nil
}

// filterBound returns how many bytes a stored chunk has at most.
func filterBound(filters []Filter, n int) uint64 {
	bound := n
	for _, f := range filters {
		step, err := newFilter(f, n)
		if err != nil { // it may be left out
			bound += n + 1<<16
			continue
		}
		bound = step.Bound(bound)
	}
	return uint64(bound)
}

// room returns limit bytes of dst, or new ones.
func room(dst []byte, limit int) []byte {
	if cap(dst) < limit {
		return make([]byte, limit)
	}
	return dst[:limit]
}

// shuffle has the bytes of values in planes.
type shuffle struct{ size int }

func newShuffle(f Filter, chunkBytes int) (decoder, error) {
	size := 1
	if len(f.Client) > 0 {
		size = int(f.Client[0])
	}
	if size < 1 || size > chunkBytes {
		return nil, fmt.Errorf("filter shuffle: expected values of 1 to %d bytes, found %d", chunkBytes, size)
	}
	return shuffle{size}, nil
}

func (s shuffle) Decode(dst, src []byte, limit int) ([]byte, error) {
	if len(src) > limit {
		return nil, fmt.Errorf("expected at most %d bytes, found %d", limit, len(src))
	}
	dst = room(dst, limit)[:len(src)]
	codec.UnshuffleBytes(dst, src, s.size)
	return dst, nil
}

func (shuffle) Bound(n int) int { return n }
func (shuffle) String() string  { return "shuffle" }
func (shuffle) exact()          {}

// fletcher32 has a checksum after the bytes. Their number is known if that before is.
type fletcher32 struct{ codec.Fletcher32 }

func (fletcher32) exact() {}
