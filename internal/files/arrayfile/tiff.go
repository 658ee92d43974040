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
	by     arrangement // nil: each page is a plane
}

var tiffFormat = format{name: "TIFF", is: isTIFF, open: openTIFF, plane: openTIFFPlane,
	suffixes: []string{".tif", ".tiff"}}

// openTIFF reads the directories of a file. Each page is a plane, unless the description says that several are its
// channels.
func openTIFF(a *Array, in input) error {
	if err := refuseSlide(in.file.Name()); err != nil {
		return err
	}
	var p tiffPages
	err := p.add(in.file)
	if err != nil {
		return err
	}
	if p.by, err = p.arrangement(a); err != nil {
		return err
	}
	pages, err := p.arrange(a, p.all)
	if err != nil {
		return err
	}
	if err := a.setPlanes(pages); err != nil {
		return err
	}
	p.openCopies(a)
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
func (p *tiffPages) openCopies(a *Array) {
	for level := range p.copies[0] {
		b, err := p.openCopy(a, level)
		if err != nil {
			a.warn("the pyramid of the TIFF has %d usable copies: %v", level, err)
			return
		}
		a.Coarser = append(a.Coarser, b)
	}
}

// openCopy opens one level of smaller copies.
func (p *tiffPages) openCopy(a *Array, level int) (*Array, error) {
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
	pages, err := p.arrange(b, pages)
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

// arrangement is what a program has written about its pages.
type arrangement interface {
	// arrange describes the array, and returns the planes in their order. d is the first page.
	arrange(a *Array, d *tiffDirectory, pages []plane) ([]plane, error)
}

// arrangement reads the description of the first page.
func (p *tiffPages) arrangement(a *Array) (arrangement, error) {
	description := p.first.text(tiff.TagImageDescription)
	switch {
	case isImageJ(description):
		return parseImageJ(description), nil
	case isOME(description):
		return openOME(a, p, description)
	}
	if s, ok := parseShaped(description); ok {
		return s, nil
	}
	return nil, nil
}

// arrange returns the planes in their order. pages are those of p, or their copies.
func (p *tiffPages) arrange(a *Array, pages []plane) ([]plane, error) {
	p.first.describe(a)
	firstPage(pages[0]).describe(a)
	if p.by == nil {
		return pages, nil
	}
	return p.by.arrange(a, p.first, pages)
}

// describe calls describePalette if the pixels of the page are indices.
func (d *tiffDirectory) describe(a *Array) {
	if v, err := d.single(tiff.TagPhotometric, 0); err == nil && v == tiff.Palette {
		a.describePalette("TIFF")
	}
}

// openTIFFPlane opens a file of a directory, which must have one page. The description of the first gives the voxel
// size.
func openTIFFPlane(a *Array, f *file, first bool) (plane, error) {
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
		d.describe(a)
		firstPage(page).describe(a)
		if text := d.text(tiff.TagImageDescription); isImageJ(text) {
			parseImageJ(text).describe(a, d)
		}
	}
	return page, nil
}

func (p *tiffPage) where() (string, int64) { return p.f.Name(), p.at }
