package arrayfile

import "github.com/wkwfs/wkwfs/internal/fileformat/tiff"

// openTIFF reads the directories of a file. Each page is a plane, unless the description says that several are its channels.
func (a *Array) openTIFF(f *file) error {
	r, at, err := newTIFFReader(f)
	if err != nil {
		return err
	}
	var pages []plane
	var first *tiffDirectory
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
		page, err := d.page()
		if err != nil {
			return err
		}
		if pages = append(pages, page); len(pages) == 1 {
			first = d
		}
	}
	if len(pages) == 0 {
		return r.bad("first directory", 4, "a page", "none")
	}
	if pages, err = a.arrange(first, pages); err != nil {
		return err
	}
	return a.setPlanes(pages)
}

// arrange reads the description of the first page and returns the planes in their order.
func (a *Array) arrange(d *tiffDirectory, pages []plane) ([]plane, error) {
	a.palette(d)
	a.describeBits(pages[0].(*tiffPage))
	description := d.text(tiff.TagImageDescription)
	switch {
	case isImageJ(description):
		return a.arrangeImageJ(d, parseImageJ(description), pages)
	case isOME(description):
		return a.arrangeOME(d, description, pages)
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

// openTIFFPlane opens a file of a directory, which must have one page. The description of the first gives the voxel size.
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
	page, err := d.page()
	if err != nil {
		return nil, err
	}
	if first {
		a.palette(d)
		a.describeBits(page)
		if text := d.text(tiff.TagImageDescription); isImageJ(text) {
			a.describeImageJ(d, parseImageJ(text))
		}
	}
	return page, nil
}

func (p *tiffPage) place() (string, int64) { return p.f.Name(), p.at }
