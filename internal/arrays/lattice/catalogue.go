package lattice

import (
	"errors"
	"io/fs"
	"iter"
	"path"
	"strconv"

	"github.com/wkwfs/wkwfs/volume"
)

// Store finds the encoded chunks of a mag: each in a file or in several, or many in a shard. The error for an absent
// chunk is fs.ErrNotExist.
type Store interface {
	// Positions returns the chunks that are stored, even if they cannot be read. An answer that is not fresh may be
	// some seconds old. If there are too many for the memory, the error is a [TooManyError]. Another error says why the
	// answer may be incomplete.
	Positions(fresh bool) (Positions, error)

	// Walk yields what Positions returns, in any order, and errors of listing. A chunk in several files may come
	// several times. Walk holds only some of the chunks in memory.
	Walk(yield func(volume.Vec, error) bool)

	// Describe returns a function that describes chunks, for use with several of them at about the same time.
	Describe() func(volume.Vec) (fs.FileInfo, error)
}

// Catalogue lists the chunks of a store as the cubes of a [volume.Mag].
type Catalogue struct {
	store   Store
	lattice Lattice
	name    string // of the mag in errors
	stat    func() (fs.FileInfo, error)
	all     int // see ShowAll
}

// NewCatalogue returns the catalogue of a store. name is that of the mag in errors. stat describes its directory.
func NewCatalogue(s Store, l Lattice, name string, stat func() (fs.FileInfo, error)) Catalogue {
	return Catalogue{store: s, lattice: l, name: name, stat: stat}
}

// ShowAll makes Cubes list all chunks of the lattice, for a mag whose absent chunks have voxels other than zero. If
// there are more than limit, Cubes returns a [TooManyError].
func (c *Catalogue) ShowAll(limit int) { c.all = limit }

// Cubes lists one level of the positions of the chunks. If the chunks are too many for the memory, it returns a
// [TooManyError]: WalkCubes lists them.
func (c *Catalogue) Cubes(zy ...int) ([]int, error) {
	level, ok, err := c.level(len(zy) == 0, zy)
	if err == nil && !ok {
		err = c.NoChunk("readdir", zy...)
	}
	return level, err
}

func (c *Catalogue) level(fresh bool, zy []int) ([]int, bool, error) {
	if c.all > 0 {
		return c.lattice.level(c.all, zy)
	}
	found, err := c.store.Positions(fresh)
	level, ok := found.Level(zy...)
	return level, ok, err
}

// WalkCubes is Walk of a [volume.Index]. It yields the chunks that are stored.
func (c *Catalogue) WalkCubes() iter.Seq2[volume.Vec, error] {
	return func(yield func(volume.Vec, error) bool) {
		found, err := c.store.Positions(true)
		if IsTooMany(err) {
			c.store.Walk(yield)
			return
		}
		for at := range found.All {
			if !yield(at, nil) {
				return
			}
		}
		if err != nil {
			yield(volume.Vec{}, err)
		}
	}
}

// StatCubes describes a chunk, or a level above that has chunks. The attributes of such a level are those of the
// directory.
func (c *Catalogue) StatCubes(zyx ...int) (fs.FileInfo, error) {
	if len(zyx) == 3 {
		at := volume.Vec{zyx[2], zyx[1], zyx[0]}
		if !at.In(c.lattice.Size) {
			return nil, c.NoChunk("stat", zyx...)
		}
		return c.store.Describe()(at)
	}
	_, ok, err := c.level(false, zyx)
	if ok {
		return c.stat()
	}
	if err == nil {
		err = c.NoChunk("stat", zyx...)
	}
	return nil, err
}

// DescribeCubes is Describe of a [volume.Index]. Chunks of one row are described together.
func (c *Catalogue) DescribeCubes(zy ...int) iter.Seq2[[]volume.CubeEntry, error] {
	return func(yield func([]volume.CubeEntry, error) bool) {
		numbers, err := c.Cubes(zy...)
		stat := func(int) (fs.FileInfo, error) { return c.stat() }
		if len(zy) == 2 {
			chunk := c.store.Describe()
			stat = func(x int) (fs.FileInfo, error) { return chunk(volume.Vec{x, zy[1], zy[0]}) }
		}
		entries := make([]volume.CubeEntry, 0, len(numbers))
		for _, n := range numbers {
			if info, err := stat(n); !errors.Is(err, fs.ErrNotExist) {
				entries = append(entries, volume.CubeEntry{N: n, Info: info, Err: err})
			}
		}
		yield(entries, err)
	}
}

// NoChunk returns the error for a position without a chunk.
func (c *Catalogue) NoChunk(op string, zyx ...int) error {
	name := c.name
	for i, n := range zyx {
		name = path.Join(name, "zyx"[i:i+1]+strconv.Itoa(n))
	}
	return &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
}
