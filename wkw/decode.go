package wkw

import "github.com/wkwfs/wkwfs/wkw/lz4block"

// decode decodes the blocks of a batch, two at a time.
func (s *filler) decode(first, end int) {
	one := -1
	for i := first; i < end; i++ {
		switch {
		case s.extents[i].size == 0: // it has an error
		case one < 0:
			one = i
		default:
			s.decodePair(one, i)
			one = -1
		}
	}
	if one >= 0 {
		voxels := s.memory(s.blocks[one].At)
		s.done(one, voxels, lz4block.Decode(voxels, s.stored(one)))
	}
}

func (s *filler) decodePair(i, j int) {
	voxels0, voxels1 := s.memory(s.blocks[i].At), s.memory(s.blocks[j].At)
	err0, err1 := lz4block.DecodePair(voxels0, s.stored(i), voxels1, s.stored(j))
	s.done(i, voxels0, err0)
	s.done(j, voxels1, err1)
}

// done sets the voxels of a block, or the error that its decoder returned.
func (s *filler) done(i int, voxels []byte, err error) {
	if err != nil {
		s.fail(i, s.file.undecodable(s.numbers[i], s.extents[i], err))
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

// stored returns block i of the batch as it is stored.
func (s *filler) stored(i int) []byte { return s.batch[s.starts[i]:][:s.extents[i].size] }

// readDirectly reads raw blocks into their memory.
func (s *filler) readDirectly() {
	for i, at := range s.extents {
		if at.size == 0 {
			continue // it has an error
		}
		if s.stop(i) {
			return
		}
		s.announce(i, i+1)
		voxels := s.memory(s.blocks[i].At)
		if err := s.read(voxels, at.offset); err != nil {
			s.fail(i, s.file.unreadable(s.numbers[i], at.offset, err))
			continue
		}
		s.blocks[i].Voxels = voxels
	}
}
