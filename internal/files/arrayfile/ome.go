package arrayfile

import (
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/wkwfs/wkwfs/internal/fileformat/tiff"
)

// omeXML is the part of OME-XML that says where planes are: "OME-TIFF specification", 6.
type omeXML struct {
	UUID   string `xml:",attr"`
	Binary *struct {
		File string `xml:"MetadataFile,attr"`
	} `xml:"BinaryOnly"`
	Images []struct {
		Pixels omePixels
	} `xml:"Image"`
}

type omePixels struct {
	Order  string     `xml:"DimensionOrder,attr"`
	SizeZ  int        `xml:",attr"`
	SizeC  int        `xml:",attr"`
	SizeT  int        `xml:",attr"`
	X      float64    `xml:"PhysicalSizeX,attr"`
	Y      float64    `xml:"PhysicalSizeY,attr"`
	Z      float64    `xml:"PhysicalSizeZ,attr"`
	UnitX  string     `xml:"PhysicalSizeXUnit,attr"`
	UnitY  string     `xml:"PhysicalSizeYUnit,attr"`
	UnitZ  string     `xml:"PhysicalSizeZUnit,attr"`
	Pieces []omePiece `xml:"TiffData"`
}

// omePiece says which pages of a file are planes, in the order of the dimensions, from a plane on.
type omePiece struct {
	IFD    *int `xml:",attr"`
	Count  *int `xml:"PlaneCount,attr"`
	FirstZ int  `xml:",attr"`
	FirstC int  `xml:",attr"`
	FirstT int  `xml:",attr"`
	UUID   *struct {
		FileName string `xml:",attr"`
		Text     string `xml:",chardata"`
	}
}

// file returns the name of the file that has the pages; empty: that of the metadata.
func (p omePiece) file() string {
	if p.UUID == nil {
		return ""
	}
	return p.UUID.FileName
}

// omeSet is an image whose planes are pages of one or more files.
type omeSet struct {
	omePixels
	files map[string]pageRange // by name; "" is the file that was opened
}

// pageRange has the pages of a file among those of all files.
type pageRange struct{ first, n int }

func isOME(description string) bool {
	return strings.Contains(description[:min(len(description), 1<<12)], "<OME")
}

// openOME reads the metadata of an image, and adds the pages of other files that have planes of it. They lie in the
// directory of the file.
func openOME(a *Array, p *tiffPages, description string) (*omeSet, error) {
	d, own := p.first, []string{""}
	o, err := parseOME(d, description)
	if err != nil {
		return nil, err
	}
	uuid := o.UUID
	if o.Binary != nil {
		if o, err = readMetadata(a, d, o.Binary.File); err != nil {
			return nil, err
		}
	} else {
		own = append(own, d.f.base())
	}
	if len(o.Images) != 1 {
		return nil, d.bad("OME-XML", d.at, "one image", len(o.Images))
	}
	s := &omeSet{o.Images[0].Pixels, map[string]pageRange{}}
	for _, piece := range s.Pieces {
		if piece.UUID != nil && uuid != "" && strings.TrimSpace(piece.UUID.Text) == uuid {
			own = append(own, piece.file()) // the file may have another name now
		}
	}
	if s.isAlone(a, len(p.all)) {
		own = append(own, s.Pieces[0].file())
	}
	for _, name := range own {
		s.files[name] = pageRange{0, len(p.all)}
	}
	for _, piece := range s.Pieces {
		if err := s.addFile(a, p, piece.file()); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// isAlone reports whether a file with n pages has all planes: the only file that is named does not exist, so it is this
// one under an older name.
func (s *omeSet) isAlone(a *Array, n int) bool {
	stacks := n / max(s.SizeZ, 1) // of planes
	if len(s.Pieces) == 0 || stacks*s.SizeZ != n || stacks != s.SizeT*s.SizeC && stacks != s.SizeT {
		return false
	}
	name := s.Pieces[0].file()
	if slices.ContainsFunc(s.Pieces, func(p omePiece) bool { return p.file() != name }) || !isSibling(name) {
		return false
	}
	_, err := fs.Stat(a.dir.FS, path.Join(a.dir.name, name))
	return errors.Is(err, fs.ErrNotExist)
}

// addFile adds the pages of a file, once.
func (s *omeSet) addFile(a *Array, p *tiffPages, name string) error {
	if _, known := s.files[name]; known {
		return nil
	}
	d := p.first
	if name == d.f.base() { // its metadata are in another file
		s.files[name] = s.files[""]
		return nil
	}
	if !isSibling(name) {
		const expected = "the name of a file in the same directory"
		return d.bad("FileName of a TiffData", d.at, expected, fmt.Sprintf("%q", name))
	}
	f, err := a.open(name)
	if err != nil {
		return fmt.Errorf("%s: a file of its TiffData: %w", d.f.Name(), err)
	}
	defer f.drop() // read-only: nothing can be lost
	first := len(p.all)
	if err := p.add(f); err != nil {
		return err
	}
	s.files[name] = pageRange{first, len(p.all) - first}
	return nil
}

func parseOME(d *tiffDirectory, text string) (o omeXML, err error) {
	if err := xml.Unmarshal([]byte(text), &o); err != nil {
		return o, d.bad("OME-XML", d.at, "XML", err)
	}
	return o, nil
}

// readMetadata reads the OME-XML of another file in the directory: a file of its own, or the description of a TIFF.
func readMetadata(a *Array, d *tiffDirectory, name string) (o omeXML, err error) {
	if !isSibling(name) {
		return o, d.bad("MetadataFile", d.at, "the name of a file in the same directory", fmt.Sprintf("%q", name))
	}
	f, err := a.open(name)
	if err != nil {
		return o, fmt.Errorf("%s: its MetadataFile: %w", d.f.Name(), err)
	}
	defer f.drop() // read-only: nothing can be lost
	start, err := f.start()
	if err != nil {
		return o, err
	}
	if isTIFF(start) {
		var p tiffPages
		if err := p.add(f); err != nil {
			return o, err
		}
		return parseOME(p.first, p.first.text(tiff.TagImageDescription))
	}
	if f.size > maxDescription {
		expected := fmt.Sprintf("OME-XML of at most %d bytes", maxDescription)
		return o, invalid(f.Name(), "size", -1, expected, fmt.Sprint(f.size))
	}
	text := make([]byte, f.size)
	if n, err := f.ReadAt(text, 0); n < len(text) {
		return o, unreadable(f.Name(), "OME-XML", 0, noEOF(err))
	}
	if err := xml.Unmarshal(text, &o); err != nil {
		return o, unreadable(f.Name(), "OME-XML", 0, err)
	}
	return o, nil
}

// arrange implements [arrangement]. It returns the planes of an OME-TIFF, in the order channel, z, time. The first is
// fastest.
func (s *omeSet) arrange(a *Array, d *tiffDirectory, pages []plane) ([]plane, error) {
	for axis, size := range [3]float64{s.X, s.Y, s.Z} {
		unit := cmp.Or([...]string{s.UnitX, s.UnitY, s.UnitZ}[axis], "um") // the default of the schema
		a.Grid.Spacing[axis] = validSpacing(size * unitOf(unit))
	}
	channels := s.SizeC
	if samples := pages[0].shape().Channels; samples > 1 && channels == samples {
		channels = 1 // they are the samples of a pixel
	}
	n := len(pages)
	empty := channels < 1 || s.SizeZ < 1 || s.SizeT < 1
	if empty || channels > n || s.SizeZ > n/channels || s.SizeT > n/channels/s.SizeZ ||
		len(s.Pieces) == 0 && channels*s.SizeZ*s.SizeT != n {
		const planes = "all of %d planes of %d channels at %d times in its files"
		expected := fmt.Sprintf(planes, s.SizeZ, s.SizeC, s.SizeT)
		return nil, d.bad("OME-XML", d.at, expected, fmt.Sprintf("%d pages", n))
	}
	o, err := newOMEOrder(d, s, channels)
	if err != nil {
		return nil, err
	}
	if err := o.assign(d, s, n); err != nil {
		return nil, err
	}
	planes := make([]plane, len(o.pages))
	for i, page := range o.pages {
		planes[i] = pages[page]
	}
	return a.withTimes(d, planes, s.SizeT, channels, true)
}

// omeOrder finds the pages of planes.
type omeOrder struct {
	sizes  [3]int // of z, c and t
	stride [3]int // of z, c and t in planes
	axes   [3]int // in the order of DimensionOrder, fastest first: 0 is z, 1 is c, 2 is t
	pages  []int  // of each plane, c fastest, then z, then t; -1: not known yet
}

func newOMEOrder(d *tiffDirectory, s *omeSet, channels int) (*omeOrder, error) {
	o := &omeOrder{sizes: [3]int{s.SizeZ, channels, s.SizeT}, stride: [3]int{channels, 1, channels * s.SizeZ}}
	order, ok := strings.CutPrefix(cmp.Or(s.Order, "XYZCT"), "XY")
	seen := [3]bool{}
	for i, letter := range order {
		axis := strings.IndexRune("ZCT", letter)
		if ok = ok && len(order) == 3 && axis >= 0 && !seen[axis]; !ok {
			break
		}
		seen[axis], o.axes[i] = true, axis
	}
	if !ok || len(order) != 3 {
		return nil, d.bad("DimensionOrder", d.at, "XY, and Z, C and T in any order", fmt.Sprintf("%q", s.Order))
	}
	o.pages = slices.Repeat([]int{-1}, channels*s.SizeZ*s.SizeT)
	return o, nil
}

// assign finds the page of each plane among n pages. Without a TiffData, all pages follow each other. Some programs
// name only the first page: then the others do, too.
func (o *omeOrder) assign(d *tiffDirectory, s *omeSet, n int) error {
	pieces := s.Pieces
	if len(pieces) == 0 {
		pieces = []omePiece{{}}
	}
	for _, piece := range pieces {
		if err := o.assignPiece(d, s, piece); err != nil {
			return err
		}
	}
	if i := slices.Index(o.pages, -1); i >= 0 && !o.follow(n) {
		return d.bad("TiffData", d.at, "a page for each plane", "none for "+o.name(i))
	}
	return nil
}

// follow assigns the planes of n pages that have no page yet. It returns false if the pages do not follow each other.
func (o *omeOrder) follow(n int) bool {
	if n != len(o.pages) {
		return false
	}
	var at [3]int
	for page := range n {
		to := o.indexOf(at)
		if o.pages[to] >= 0 && o.pages[to] != page {
			return false
		}
		o.pages[to] = page
		o.advance(&at)
	}
	return true
}

func (o *omeOrder) indexOf(at [3]int) int {
	return at[0]*o.stride[0] + at[1]*o.stride[1] + at[2]*o.stride[2]
}

// name names a plane.
func (o *omeOrder) name(i int) string {
	return fmt.Sprintf("plane %d of channel %d at time %d", i/o.stride[0]%o.sizes[0], i%o.sizes[1], i/o.stride[2])
}

func (o *omeOrder) assignPiece(d *tiffDirectory, s *omeSet, piece omePiece) error {
	in := s.files[piece.file()]
	ifd, at := 0, [3]int{piece.FirstZ, piece.FirstC, piece.FirstT}
	for axis, n := range at {
		if n < 0 || n >= o.sizes[axis] {
			const within = "a plane within %d planes, %d channels and %d times"
			expected := fmt.Sprintf(within, o.sizes[0], o.sizes[1], o.sizes[2])
			found := fmt.Sprintf("plane %d of channel %d at time %d", at[0], at[1], at[2])
			return d.bad("TiffData", d.at, expected, found)
		}
	}
	count := 1
	if piece.IFD != nil {
		ifd = *piece.IFD
	} else {
		count = min(in.n, o.after(at))
	}
	if piece.Count != nil {
		count = *piece.Count
	}
	if ifd < 0 || count < 0 || ifd > in.n || count > in.n-ifd || count > o.after(at) {
		expected := fmt.Sprintf("pages of %s, which has %d", cmp.Or(piece.file(), "this file"), in.n)
		return d.bad("TiffData", d.at, expected, fmt.Sprintf("%d from page %d on", count, ifd))
	}
	for i := range count {
		to := o.indexOf(at)
		if o.pages[to] >= 0 {
			return d.bad("TiffData", d.at, "each plane once", o.name(to)+" again")
		}
		o.pages[to] = in.first + ifd + i
		o.advance(&at)
	}
	return nil
}

// after returns the number of planes from one on.
func (o *omeOrder) after(at [3]int) int {
	before, stride := 0, 1
	for _, axis := range o.axes {
		before += at[axis] * stride
		stride *= o.sizes[axis]
	}
	return stride - before
}

// advance goes to the next plane in the order of the dimensions.
func (o *omeOrder) advance(at *[3]int) {
	for _, axis := range o.axes {
		if at[axis]++; at[axis] < o.sizes[axis] {
			return
		}
		at[axis] = 0
	}
}
