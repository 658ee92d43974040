package wkw

import (
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/wkw/lz4block"
)

// decode decodes the blocks of a batch, two at a time.
func (s *filler) decode(first, end int) {
	waiting := -1 // the first block of a pair
	for i := first; i < end; i++ {
		switch {
		case s.extents[i].size == 0: // it has an error
		case waiting < 0:
			waiting = i
		default:
			s.decodePair(waiting, i)
			waiting = -1
		}
	}
	if waiting >= 0 {
		voxels := s.memory(s.blocks[waiting].At)
		s.setResult(waiting, voxels, lz4block.Decode(voxels, s.stored(waiting)))
	}
}

func (s *filler) decodePair(i, j int) {
	voxels0, voxels1 := s.memory(s.blocks[i].At), s.memory(s.blocks[j].At)
	err0, err1 := lz4block.DecodePair(voxels0, s.stored(i), voxels1, s.stored(j))
	s.setResult(i, voxels0, err0)
	s.setResult(j, voxels1, err1)
}

// setResult sets the result of block i: its voxels, its stored bytes if they are wanted, or the error of its decoder.
func (s *filler) setResult(i int, voxels []byte, err error) {
	switch {
	case err != nil:
		err = s.file.decodeError(s.numbers[i], s.extents[i], err)
	case s.asStored != nil:
		voxels, err = s.keepStored(i)
	}
	if err != nil {
		s.fail(i, err)
		return
	}
	s.blocks[i].Voxels = voxels
}

// copyRaw copies the raw blocks of a batch into their memory.
func (s *filler) copyRaw(first, end int) {
	for i := first; i < end; i++ {
		if s.extents[i].size > 0 {
			voxels := s.memory(s.blocks[i].At)
			copy(voxels, s.stored(i))
			s.blocks[i].Voxels = voxels
		}
	}
}

// stored returns the stored bytes of block i of the batch.
func (s *filler) stored(i int) []byte { return s.batch[s.starts[i]:][:s.extents[i].size] }

// readDirectly reads raw blocks into their memory, without a batch.
func (s *filler) readDirectly() {
	for first := 0; first < len(s.blocks) && !s.stop(first); {
		end := s.batchEnd(first)
		s.announce(first, end)
		s.ranges, s.runs = s.ranges[:0], s.runs[:0]
		for i := first; i < end; i++ {
			if s.extents[i].size > 0 { // else it has an error
				s.ranges = append(s.ranges, vfs.Range{Off: s.extents[i].offset, P: s.memory(s.blocks[i].At)})
				s.runs = append(s.runs, [2]int{i, i + 1})
			}
		}
		s.read(len(s.ranges) * s.file.grid.BlockBytes())
		for n, r := range s.ranges {
			i := s.runs[n][0]
			if r.Err != nil {
				s.fail(i, s.file.readError(s.numbers[i], r.Off, r.Err))
			} else {
				s.blocks[i].Voxels = r.P
			}
		}
		first = end
	}
}
