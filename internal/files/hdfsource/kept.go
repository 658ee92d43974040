package hdfsource

import (
	"fmt"
	"slices"
	"sync"

	"github.com/wkwfs/wkwfs/hdf5"
	"github.com/wkwfs/wkwfs/internal/small/lru"
	"github.com/wkwfs/wkwfs/volume"
)

const (
	keptBytes   = 32 << 20 // of indexes of chunks that no open cube uses, for all files of the process
	headerBytes = 8 << 10  // of a dataset without its index, about
)

// kept are the datasets that were used last, with their indexes: a cube that is opened again does not read it again.
var kept = struct {
	sync.Mutex
	datasets *lru.Cache[keptKey, *hdf5.Dataset]
}{datasets: lru.New[keptKey, *hdf5.Dataset](keptBytes)}

// keptKey names a dataset of a version of a file.
type keptKey struct {
	*opened
	path string
}

// dataset returns the dataset at a path, with its pieces.
func (o *opened) dataset(path string, pieceBytes int) (*hdf5.Dataset, chunks, error) {
	d, err := o.find(path)
	if err != nil {
		return nil, nil, err
	}
	pieces, err := chunksOf(d, pieceBytes)
	if c, ok := pieces.(chunked); ok && err == nil {
		kept.Lock()
		defer kept.Unlock()
		kept.datasets.Put(keptKey{o, path}, d, headerBytes+c.index.Memory())
	}
	return d, pieces, err
}

// forget drops the datasets of a version that is closed.
func (o *opened) forget() {
	kept.Lock()
	defer kept.Unlock()
	for _, path := range o.paths {
		kept.datasets.Remove(keptKey{o, path})
	}
}

// kept returns a dataset that is kept.
func (o *opened) kept(key keptKey) (*hdf5.Dataset, bool) {
	kept.Lock()
	defer kept.Unlock()
	return kept.datasets.Get(key)
}

// find returns a dataset, which is kept.
func (o *opened) find(path string) (*hdf5.Dataset, error) {
	key := keptKey{o, path}
	if d, ok := o.kept(key); ok {
		return d, nil
	}
	object, err := o.Lookup(path)
	if err != nil {
		return nil, err
	}
	d, ok := object.(*hdf5.Dataset)
	if !ok {
		return nil, fmt.Errorf("%s: it was a dataset: %w", path, volume.ErrChanged)
	}
	kept.Lock()
	defer kept.Unlock()
	if other, ok := kept.datasets.Get(key); ok { // opened at the same time: it may be reading the index
		return other, nil
	}
	kept.datasets.Put(key, d, headerBytes)
	if !slices.Contains(o.paths, path) {
		o.paths = append(o.paths, path)
	}
	return d, nil
}

// shapeOf returns the size of a piece of a dataset, without its index.
func shapeOf(d *hdf5.Dataset, pieceBytes int) ([]int, error) {
	if chunk := d.ChunkShape(); chunk != nil {
		return ints(chunk), nil
	}
	pieces, err := chunksOf(d, pieceBytes)
	if err != nil {
		return nil, err
	}
	return pieces.shape(), nil
}
