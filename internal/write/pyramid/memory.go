package pyramid

import (
	"runtime"

	"github.com/wkwfs/wkwfs/volume"
)

// divideMemory divides the memory:
//
//   - a tile takes at most an eighth. There are three: one is encoded and two are read ahead
//   - the planes that coarser mags collect take at most a quarter. Mags that need more collect their planes in a file
//   - what waits to be written past the page cache takes at most a sixteenth
//   - each worker takes a block, its tables, an open chunk of the spool and a sub-cube
//   - the spool takes the rest. Encoded blocks that need more wait in a file
func (w *writer) divideMemory() error {
	if w.layer.Jobs <= 0 {
		w.layer.Jobs = runtime.GOMAXPROCS(0)
	}
	rest := w.layer.Memory
	first := w.mags[0]
	rest -= 3 * min(w.tile, bytesOf(first.slabBox(first.region.Min[2]), first.voxel))
	planes := w.layer.Memory / 4
	for i := len(w.mags) - 1; i > 0; i-- { // the coarsest are the smallest
		m := w.mags[i]
		n := bytesOf(m.slabBox(m.region.Min[2]), m.voxel)
		var err error
		if m.planes, err = newPlanes(m, n <= planes, w.layer.Temp); err != nil {
			return err
		}
		if n <= planes {
			planes -= n
			rest -= n
		}
	}
	longest, perWorker := int64(0), int64(0)
	for _, m := range w.mags {
		if !m.raw() { // which spools nothing
			longest = max(longest, int64(m.maxRun()))
		}
		perWorker = max(perWorker, int64(m.grid.BlockBytes())+m.maxSubCube())
	}
	chunk := w.chunkSize(longest)
	rest -= int64(w.layer.Jobs)*(perWorker+chunk) + w.writeDirectly()
	w.spool = newSpool(int(chunk), max(rest, 0), w.layer.Temp)
	w.workers = make(chan *worker, w.layer.Jobs)
	for range w.layer.Jobs {
		w.workers <- &worker{spool: w.spool, encoders: map[*mag]encoder{}}
	}
	return nil
}

// chunkSize returns the size of chunks of the spool. longest is the most bytes of a run. A chunk ends where the longest
// run would not fit any more. So it has room for some of these: else most of its memory would be lost where runs
// compress well.
func (w *writer) chunkSize(longest int64) int64 {
	most := min(maxChunk, w.layer.Memory/8/int64(w.layer.Jobs))
	return max(minChunk, longest, min(chunkRuns*longest, most))
}

// worker is what one goroutine needs to encode blocks.
type worker struct {
	spool    *spool
	chunk    *chunk // that it appends to, or nil
	encoders map[*mag]encoder
	block    []byte
	voxels   []byte // of the next mag, if its planes are in a file
	out      []byte // a sub-cube
	read     []byte // what is read from the file of the spool
}

func (k *worker) encoder(m *mag) encoder {
	e := k.encoders[m]
	if e == nil {
		e = m.layout.newEncoder()
		k.encoders[m] = e
	}
	return e
}

// grow returns a slice of n bytes, b if it is long enough. Its content is undefined.
func grow(b *[]byte, n int) []byte {
	if cap(*b) < n {
		*b = make([]byte, n)
	}
	return (*b)[:n]
}

// tile is a part of a slab.
type tile struct {
	box    volume.Box // in voxels of the mag, whole blocks
	voxels []byte     // in Fortran order of the box
}
