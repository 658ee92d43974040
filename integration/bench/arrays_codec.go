package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/wkwfs/wkwfs/internal/arrays/codec"
)

// codecAlone decodes all chunks in memory on two threads and drops the voxels. It reads the stored bytes before, which is not
// measured.
func (a *array) codecAlone(b *bench) contender {
	return contender{name: codecName, turn: func(ctx context.Context) (turn, error) {
		chunks, err := a.chunks(b)
		if err != nil {
			return turn{}, err
		}
		seconds, cpu, err := timed(func() error { return a.decodeChunks(ctx, chunks, 2) })
		return turn{values: []float64{float64(a.bytes()) / 1e9 / seconds}, bytes: a.bytes(), cpu: cpu}, err
	}}
}

// chunks returns the stored bytes of all chunks, or of all inner chunks of the shards.
func (a *array) chunks(b *bench) ([][]byte, error) {
	sizes := make([]int64, len(a.stored))
	total := int64(0)
	for i, path := range a.stored {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		sizes[i] = info.Size()
		total += sizes[i]
	}
	memory := b.buffer(total)
	var chunks [][]byte
	for i, path := range a.stored {
		file := memory[:sizes[i]]
		memory = memory[sizes[i]:]
		if err := readFile(path, file); err != nil {
			return nil, err
		}
		if a.format == zarr2 {
			chunks = append(chunks, file)
			continue
		}
		inner, err := a.innerChunks(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		chunks = append(chunks, inner...)
	}
	return chunks, nil
}

// innerChunks returns the inner chunks of a shard: the extents in the index at its end, which has a checksum of 4 bytes.
func (a *array) innerChunks(shard []byte) ([][]byte, error) {
	const entry, checksum = 16, 4
	n := a.shardSideOf() / blockSide
	n *= n * n
	at := len(shard) - n*entry - checksum
	if at < 0 {
		return nil, fmt.Errorf("expected an index of %d chunks, found %d bytes", n, len(shard))
	}
	chunks := make([][]byte, n)
	for i := range chunks {
		e := shard[at+i*entry:]
		from, size := binary.LittleEndian.Uint64(e), binary.LittleEndian.Uint64(e[8:])
		if from > uint64(at) || size > uint64(at)-from {
			return nil, fmt.Errorf("chunk %d: expected an extent in %d bytes, found %d bytes at byte %d", i, at, size, from)
		}
		chunks[i] = shard[from : from+size]
	}
	return chunks, nil
}

// decodeChunks decodes chunks in several threads.
func (a *array) decodeChunks(ctx context.Context, chunks [][]byte, threads int) error {
	var by codec.Codec = codec.Zstd{}
	if a.format == zarr2 {
		by = codec.Blosc{}
	}
	n := int(a.bytes()) / len(chunks) // all chunks are whole
	var next atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for range threads {
		group.Go(func() error {
			voxels := make([]byte, n)
			for i := next.Add(1) - 1; i < int64(len(chunks)) && ctx.Err() == nil; i = next.Add(1) - 1 {
				if err := codec.DecodeInto(by, voxels, chunks[i]); err != nil {
					return err
				}
			}
			return ctx.Err()
		})
	}
	return group.Wait()
}
