package importer

import (
	"encoding/binary"
	"fmt"

	"github.com/wkwfs/wkwfs/volume"
)

// tally counts the values of a sample of one-channel integers, and the voxels that are equal to their neighbour on x.
// In labels, nearly all are. In images of microscopes few are, because of their noise.
type tally struct {
	width  int
	values map[uint64]count
	pairs  count // of values that are not in the map
	steps  int   // pairs of different values
	unit   int   // of these, those that differ by 1
}

// count counts voxels that have a neighbour at x+1.
type count struct{ all, equal int }

// maxValues is the number of different values that a tally keeps.
const maxValues = 1 << 16

func newTally(t volume.Type) *tally { return &tally{width: t.Size(), values: map[uint64]count{}} }

// add counts rows of n voxels.
func (s *tally) add(voxels []byte, n int) {
	for row := n * s.width; len(voxels) >= row; voxels = voxels[row:] {
		s.addRow(voxels[:row])
	}
}

// addRow counts a row, a run of equal values at a time.
func (s *tally) addRow(row []byte) {
	last, run := s.value(row), 0
	for row = row[s.width:]; len(row) > 0; row = row[s.width:] {
		v := s.value(row)
		if v == last {
			run++
			continue
		}
		s.addRun(last, count{run + 1, run})
		s.steps++
		if d := v - last; d == 1 || d == ^uint64(0) {
			s.unit++
		}
		last, run = v, 0
	}
	s.addRun(last, count{run, run}) // the last voxel has no neighbour
}

// addRun adds the counts of a run of equal values to those of the value.
func (s *tally) addRun(v uint64, c count) {
	have, ok := s.values[v]
	if !ok && len(s.values) >= maxValues {
		s.pairs.all += c.all
		s.pairs.equal += c.equal
		return
	}
	s.values[v] = count{have.all + c.all, have.equal + c.equal}
}

func (s *tally) value(b []byte) uint64 {
	switch s.width {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(b))
	case 4:
		return uint64(binary.LittleEndian.Uint32(b))
	}
	return binary.LittleEndian.Uint64(b)
}

// foreground returns the counts of all voxels, and of those that do not have the most frequent value. That is the
// background of labels, and the black or white of a saturated image.
func (s *tally) foreground() (all, rest count) {
	all = s.pairs
	var most count
	for _, c := range s.values {
		all.all += c.all
		all.equal += c.equal
		if c.all > most.all || c.all == most.all && c.equal > most.equal {
			most = c
		}
	}
	return all, count{all.all - most.all, all.equal - most.equal}
}

// The limits of choose. On layers of WEBKNOSSOS, 85 to 98 % of the foreground of segmentations is equal to its
// neighbour, also in coarse mags, and 4 to 5 % of that of images. The synthetic sample of wkwfs, with 20 grey values,
// has up to 60 %.
const (
	mostOfImages  = 0.65
	leastOfLabels = 0.8
	leastOfMasks  = 0.7  // which may be thin
	maskValues    = 4    // different ones, at most
	minForeground = 1000 // voxels
)

// choose returns the category that the sample shows, if it is not in doubt.
func (s *tally) choose() Choice {
	all, rest := s.foreground()
	n := len(s.values)
	values := fmt.Sprint(n)
	if n >= maxValues {
		values = fmt.Sprintf("at least %d", n)
	}
	switch {
	case n == 1:
		return Choice{Why: "a sample of the voxels has one value"}
	case rest.all < minForeground:
		return Choice{Why: fmt.Sprintf("only %d voxels of a sample of %d differ from the most frequent value", rest.all,
			all.all)}
	}
	equal := float64(rest.equal) / float64(rest.all)
	why := fmt.Sprintf("in a sample of %s values, %.1f%% of the voxels are equal to their neighbour", values, 100*equal)
	smooth := 2*s.unit > s.steps // as a blurred image
	saturated := 10*rest.all < all.all
	switch {
	case n <= maskValues && equal >= leastOfMasks, n > maskValues && equal >= leastOfLabels && !smooth:
		return Choice{Segmentation, why}
	case n > maskValues && equal <= mostOfImages && !saturated:
		return Choice{Color, why}
	}
	return Choice{Why: why}
}
