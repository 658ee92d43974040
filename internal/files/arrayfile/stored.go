package arrayfile

import "slices"

// StoredBytes returns the stored bytes of each plane, first plane first, or nil if all planes have as many. No voxel is
// read for it: a picture has the size of its file, and a page of a TIFF the lengths of its chunks. They are the same on
// all machines that see the files. The caller owns the slice.
func (a *Array) StoredBytes() []int64 {
	p, ok := a.voxels.(*planes)
	if !ok {
		return nil // one flat array or one stream
	}
	all := make([]int64, len(p.all))
	for z, each := range p.all {
		all[z] = each.stored()
	}
	if slices.Max(all) == slices.Min(all) {
		return nil
	}
	return all
}

func (p *picture) stored() int64 { return p.size }

// stored implements plane. A page has at most the bytes of its file, even if its chunks overlap.
func (p *tiffPage) stored() int64 {
	size := uint64(p.f.size)
	sum := uint64(0)
	for _, n := range p.counts {
		sum = min(sum+min(n, size), size)
	}
	return int64(sum)
}

func (c channelPlane) stored() (sum int64) {
	for _, p := range c {
		sum += p.stored()
	}
	return sum
}
