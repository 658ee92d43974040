package pyramid

// streamBytes is the most bytes of a run of a stream. Processors are busy with encoding, so the goroutine that writes
// may wait for one after each run.
const streamBytes = 4 << 20

// streamRuns is how many runs of memory are enough for one stream after another: one is written, two wait, and one is
// filled.
const streamRuns = 4

// stream is a sink. It has bytes that are next to each other in a cube file written past the page cache, in runs that
// end at multiples of streamBytes in the file.
type stream struct {
	disk *directWriter
	cube *cube     // of the file
	file *cubeFile // nil: none is open
	end  int64     // offset in the file after the bytes so far

	blocks [][]byte // of a sub-cube, in Morton order

	run    fileRun // that is not full; its capacity is what fits
	memory []byte  // of the run
}

// open opens the file of the cube of a sub-cube, unless it is open, and sets the offset of the next byte.
func (s *stream) open(p *subCube) error {
	if s.cube == p.cube && s.end == int64(p.offset) {
		return nil
	}
	s.close()
	f, err := p.cube.create()
	if err != nil {
		return err
	}
	s.cube, s.file, s.end = p.cube, &cubeFile{File: f, direct: openDirect(f.Name())}, int64(p.offset)
	return nil
}

// put implements sink. The block is in the memory of the spool.
func (s *stream) put(i, _ uint64, block []byte) {
	if n := int(i) + 1; n > len(s.blocks) {
		s.blocks = append(s.blocks, make([][]byte, n-len(s.blocks))...)
	}
	s.blocks[i] = block
}

// write implements sink: the goroutine of the disk writes.
func (s *stream) write(p *subCube, ends []uint64) error {
	if err := s.open(p); err != nil {
		return err
	}
	for _, b := range s.blocks[:len(ends)] {
		if err := s.add(b); err != nil {
			return err
		}
	}
	f := s.file
	s.disk.do(func() error { return p.cube.m.layout.writeTable(f.File, p, ends) })
	return nil
}

// add appends bytes to the file.
func (s *stream) add(b []byte) error {
	for len(b) > 0 {
		if s.run.bytes == nil {
			memory, err := s.disk.memory()
			if err != nil {
				return err
			}
			room := int(streamBytes - s.end%streamBytes)
			s.run = fileRun{congruent(&memory, streamBytes, s.end)[:0:room], s.end}
			s.memory = memory
		}
		n := min(len(b), cap(s.run.bytes)-len(s.run.bytes))
		s.run.bytes = append(s.run.bytes, b[:n]...)
		s.end += int64(n)
		if b = b[n:]; len(s.run.bytes) == cap(s.run.bytes) {
			s.flush()
		}
	}
	return nil
}

// flush has the bytes so far written.
func (s *stream) flush() {
	if s.run.bytes != nil {
		s.disk.write(s.file, []fileRun{s.run}, s.memory)
	}
	s.run, s.memory = fileRun{}, nil
}

// close has the rest written, and then the file closed.
func (s *stream) close() {
	if s.file == nil {
		return
	}
	s.flush()
	s.disk.close(s.file)
	s.cube, s.file = nil, nil
}
