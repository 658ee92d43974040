package arrayfile

import (
	"fmt"

	"github.com/wkwfs/wkwfs/internal/fileformat/tiff"
)

// tiffPages are the pages of a TIFF, and of the other files that have planes of an OME-TIFF.
type tiffPages struct {
	first *tiffDirectory
	all   []plane
	in    []*tiffReader // of each page
	// copies has the offsets of the directories of smaller copies, of each page.
	copies [][]uint64
	ome    *omeSet // nil: the file is no OME-TIFF
}

// openTIFF reads the directories of a file. Each page is a plane, unless the description says that several are its
// channels.
func (a *Array) openTIFF(f *file) error {
	var p tiffPages
	if err := p.add(f); err != nil {
		return err
	}
	if description := p.first.text(tiff.TagImageDescription); isOME(description) {
		var err error
		if p.ome, err = a.openOME(&p, description); err != nil {
			return err
		}
	}
	pages, err := a.arrange(&p, p.all)
	if err != nil {
		return err
	}
	if err := a.setPlanes(pages); err != nil {
		return err
	}
	a.openCopies(&p)
	return nil
}

// add adds the pages of a file. Smaller copies are not pages.
func (p *tiffPages) add(f *file) error {
	r, at, err := newTIFFReader(f)
	if err != nil {
		return err
	}
	n := len(p.all)
	seen := map[int64]bool{}
	for at != 0 {
		if seen[at] {
			return r.bad("directory", at, "each page once", "an earlier page")
		}
		seen[at] = true
		d, next, err := r.directory(at)
		if err != nil {
			return err
		}
		at = next
		if kind, err := d.single(tiff.TagNewSubfileType, 0); err == nil && kind&^tiff.Page == tiff.Reduced {
			continue // a smaller copy of another page
		}
		if err := p.addPage(r, d); err != nil {
			return err
		}
	}
	if len(p.all) == n {
		return r.bad("first directory", 4, "a page", "none")
	}
	return nil
}

func (p *tiffPages) addPage(r *tiffReader, d *tiffDirectory) error {
	page, err := d.plane()
	if err != nil {
		return err
	}
	smaller, err := d.numbers(tiff.TagSubIFDs)
	if err != nil {
		return err
	}
	if p.first == nil {
		p.first = d
	}
	p.all, p.in, p.copies = append(p.all, page), append(p.in, r), append(p.copies, smaller)
	return nil
}

// openCopies opens the smaller copies of the planes, as OME-TIFF has them: level i of the pyramid is the i-th copy of
// each page. A level that cannot be opened ends the pyramid, with a warning.
func (a *Array) openCopies(p *tiffPages) {
	for level := range p.copies[0] {
		b, err := a.openCopy(p, level)
		if err != nil {
			a.warn("the pyramid of the TIFF has %d usable copies: %v", level, err)
			return
		}
		a.Coarser = append(a.Coarser, b)
	}
}

// openCopy opens one level of smaller copies.
func (a *Array) openCopy(p *tiffPages, level int) (*Array, error) {
	var pages []plane
	for i, all := range p.copies {
		if level >= len(all) {
			return nil, p.first.bad("SubIFDs", p.first.at, fmt.Sprintf("a copy %d of page %d", level, i), "none")
		}
		d, _, err := p.in[i].directory(int64(all[level]))
		if err != nil {
			return nil, err
		}
		d.reduced = true
		page, err := d.plane()
		if err != nil {
			return nil, err
		}
		pages = append(pages, page)
	}
	b := &Array{dir: a.dir, files: a.files, bigEndian: a.bigEndian}
	pages, err := b.arrange(p, pages)
	if err != nil {
		return nil, err
	}
	if err := b.setPlanes(pages); err != nil {
		return nil, err
	}
	g, whole := b.Grid, a.Grid
	if g.Size != g.Size.Min(whole.Size) || g.Type != whole.Type || g.Channels != whole.Channels {
		return nil, p.first.bad("SubIFDs", p.first.at, "smaller copies of the page", g.Size)
	}
	return b, nil
}

// arrange reads the description of the first page and returns the planes in their order. pages are those of p, or their
// copies.
func (a *Array) arrange(p *tiffPages, pages []plane) ([]plane, error) {
	d := p.first
	a.palette(d)
	a.describeBits(firstPage(pages[0]))
	description := d.text(tiff.TagImageDescription)
	switch {
	case isImageJ(description):
		return a.arrangeImageJ(d, parseImageJ(description), pages)
	case p.ome != nil:
		return a.arrangeOME(d, p.ome, pages)
	}
	if s, ok := parseShaped(description); ok {
		return a.arrangeShaped(d, s, pages)
	}
	return pages, nil
}

// palette calls describePalette if the pixels of the page are indices.
func (a *Array) palette(d *tiffDirectory) {
	if v, err := d.single(tiff.TagPhotometric, 0); err == nil && v == tiff.Palette {
		a.describePalette("TIFF")
	}
}

// openTIFFPlane opens a file of a directory, which must have one page. The description of the first gives the voxel
// size.
func (a *Array) openTIFFPlane(f *file, first bool) (plane, error) {
	r, at, err := newTIFFReader(f)
	if err != nil {
		return nil, err
	}
	d, next, err := r.directory(at)
	if err != nil {
		return nil, err
	}
	for next != 0 {
		other, after, err := r.directory(next)
		if err != nil {
			return nil, err
		}
		if kind, err := other.single(tiff.TagNewSubfileType, 0); err != nil || kind&^tiff.Page != tiff.Reduced {
			return nil, r.bad("directory", next, "one page in each file of a directory", "another page")
		}
		next = after
	}
	page, err := d.plane()
	if err != nil {
		return nil, err
	}
	if first {
		a.palette(d)
		a.describeBits(firstPage(page))
		if text := d.text(tiff.TagImageDescription); isImageJ(text) {
			a.describeImageJ(d, parseImageJ(text))
		}
	}
	return page, nil
}

func (p *tiffPage) place() (string, int64) { return p.f.Name(), p.at }
