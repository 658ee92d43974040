package arrayfile

import (
	"bufio"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/wkwfs/wkwfs/internal/fileformat/nrrd"
)

// nrrdHeader has the fields of an NRRD header.
type nrrdHeader struct {
	file   string
	fields map[string]string
	lines  map[string]int64 // offsets of the fields, in bytes
	end    int64            // of the header, in bytes

	segments bool // the keys of a segmentation of 3D Slicer are there
}

func (h *nrrdHeader) bad(field, expected string) error {
	found := "none"
	if value, ok := h.fields[field]; ok {
		found = strconv.Quote(value)
	}
	return invalid(h.file, field, h.lines[field], expected, found)
}

// nrrdEncodings has the encodings by their names.
var nrrdEncodings = map[string]encoding{
	"raw": rawEncoding, "gzip": gzipEncoding, "gz": gzipEncoding, "bzip2": bzip2Encoding, "bz2": bzip2Encoding,
}

var nrrdFormat = format{is: startsWith(nrrd.Magic), open: openNRRD}

// openNRRD reads the header of an NRRD file. The voxels follow the header, or are in one file in the same directory.
func openNRRD(a *Array, in input) error {
	f := in.file
	h, err := readNRRD(f)
	if err != nil {
		return err
	}
	if err := h.describe(a); err != nil {
		return err
	}
	data, offset := f, h.end
	if name, detached := h.fields["data file"]; detached {
		name = strings.TrimPrefix(name, "./")
		if !isSibling(name) || strings.HasPrefix(name, "LIST") || strings.Contains(name, "%") {
			return h.bad("data file", "the name of one file in the same directory")
		}
		if data, err = a.open(name); err != nil {
			return err
		}
		offset = 0
	}
	s, err := h.section(a, data, offset)
	if err != nil {
		return err
	}
	return a.setVoxels(s)
}

// isSibling reports whether name is that of a file in the same directory.
func isSibling(name string) bool {
	return name != "" && name != "." && name != ".." && name == filepath.Base(name)
}

// section returns where the voxels are in a file. Lines are skipped before decompression, bytes after it.
func (h *nrrdHeader) section(a *Array, f *file, offset int64) (s section, err error) {
	s = section{file: f, offset: offset, exact: true}
	s.encoding = nrrdEncodings[strings.ToLower(h.fields["encoding"])]
	lines, err := h.skip("line skip", 0)
	if err != nil {
		return s, err
	}
	if s.offset, err = skipLines(f, offset, lines); err != nil {
		return s, err
	}
	last := int64(0) // -1: the voxels are the last bytes of the file
	if s.encoding == rawEncoding {
		last = -1
	}
	if s.skip, err = h.skip("byte skip", last); err == nil && s.skip < 0 {
		if err = a.validate(f.Name()); err == nil {
			s.skip = max(0, f.size-s.offset-a.Grid.Bytes())
		}
	}
	return s, err
}

// skip returns a number of lines or bytes, which is at least least.
func (h *nrrdHeader) skip(field string, least int64) (int64, error) {
	value, ok := h.fields[field]
	if !ok {
		return 0, nil
	}
	n, err := strconv.ParseInt(value, 10, 62)
	if err != nil || n < least {
		return 0, h.bad(field, fmt.Sprintf("a number of at least %d", least))
	}
	return n, nil
}

// skipLines returns the offset after n lines.
func skipLines(f *file, offset, n int64) (int64, error) {
	text := bufio.NewReader(io.NewSectionReader(f, offset, f.size-offset))
	for i := int64(0); i < n; {
		part, err := text.ReadSlice('\n') // ErrBufferFull: a part of a long line
		offset += int64(len(part))
		switch err {
		case nil:
			i++
		case io.EOF:
			return 0, invalid(f.Name(), "line skip", offset, fmt.Sprintf("%d lines", n), fmt.Sprint(i))
		case bufio.ErrBufferFull:
		default:
			return 0, err
		}
	}
	return offset, nil
}

// readNRRD reads the header: the lines before the first empty line.
func readNRRD(f *file) (*nrrdHeader, error) {
	h := &nrrdHeader{file: f.Name(), fields: map[string]string{}, lines: map[string]int64{}}
	text := bufio.NewReader(io.NewSectionReader(f, 0, min(f.size, maxHeader)))
	for {
		line, err := text.ReadString('\n')
		at := h.end
		h.end += int64(len(line))
		trimmed := strings.TrimRight(line, "\r\n")
		switch {
		case err != nil && err != io.EOF:
			return nil, err
		case err == io.EOF && h.end == maxHeader:
			return nil, invalid(h.file, "header", at, fmt.Sprintf("at most %d bytes", maxHeader), "more")
		case trimmed == "" && (line != "" || at == f.size):
			return h, nil // a detached header may end without an empty line
		case strings.Contains(trimmed, ":="):
			h.segments = h.segments || strings.HasPrefix(trimmed, "Segment0_ID:=")
			continue
		case at == 0 || trimmed[0] == '#':
			continue
		}
		name, value, ok := strings.Cut(trimmed, ": ")
		name = nrrdField(name)
		if _, twice := h.fields[name]; !ok || twice {
			return nil, invalid(h.file, "header", at, "a field that occurs once", strconv.Quote(trimmed))
		}
		h.fields[name], h.lines[name] = strings.TrimSpace(value), at
	}
}

// nrrdField returns the canonical name of a field.
func nrrdField(name string) string {
	name = strings.ToLower(name)
	switch name {
	case "datafile":
		return "data file"
	case "lineskip":
		return "line skip"
	case "byteskip":
		return "byte skip"
	}
	return name
}

func (h *nrrdHeader) describe(a *Array) error {
	var ok bool
	if a.Grid.Type, ok = nrrd.ParseType(h.fields["type"]); !ok {
		return h.bad("type", "numbers of 8 to 64 bits")
	}
	if _, ok := nrrdEncodings[strings.ToLower(h.fields["encoding"])]; !ok {
		return h.bad("encoding", "raw, gzip or bzip2") // text has no byte order
	}
	if endian := h.fields["endian"]; a.Grid.Type.Size() > 1 {
		if a.bigEndian = endian == "big"; !a.bigEndian && endian != "little" {
			return h.bad("endian", "little or big")
		}
	}
	axes, err := parseAxes(strings.Fields(h.fields["sizes"]))
	if err != nil || h.fields["dimension"] != fmt.Sprint(len(axes)) || len(axes) < 2 || len(axes) > 4 {
		return h.bad("sizes", "2 or 3 axes, or one more for channels, and the same number in dimension")
	}
	channels, err := h.channels(len(axes))
	if err != nil {
		return err
	}
	a.setAxes(axes, channels)
	if h.segments {
		a.Labels = Labels{Segmentation, "segments in the NRRD"}
	}
	return h.readPosition(a, channels, len(axes))
}

// channels reports whether the first of the axes is that of channels. All others must be axes in space. Of three axes
// without kinds, all are axes in space.
func (h *nrrdHeader) channels(axes int) (bool, error) {
	value, ok := h.fields["kinds"]
	if !ok {
		return axes == 4, nil
	}
	kinds := strings.Fields(value)
	if len(kinds) != axes {
		return false, h.bad("kinds", fmt.Sprintf("%d of them", axes))
	}
	channels := axes == 4 || axes == 3 && !spatial(kinds[0])
	if channels {
		if first := kinds[0]; first == "domain" || first == "space" || first == "time" {
			return false, h.bad("kinds", "channels as the first axis")
		}
		kinds = kinds[1:]
	}
	for _, kind := range kinds {
		if !spatial(kind) {
			return false, h.bad("kinds", "two or three axes of space, after the channels if there are any")
		}
	}
	return channels, nil
}

// spatial reports whether an axis of this kind may be one in space.
func spatial(kind string) bool {
	return kind == "domain" || kind == "space" || kind == "???" || kind == "none"
}
