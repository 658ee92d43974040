package arrayfile

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/wkwfs/wkwfs/volume"
)

// metaTypes has the types of MetaImage by their names. MET_LONG always has 32 bits.
var metaTypes = map[string]volume.Type{
	"MET_UCHAR": volume.Uint8, "MET_CHAR": volume.Int8,
	"MET_USHORT": volume.Uint16, "MET_SHORT": volume.Int16,
	"MET_UINT": volume.Uint32, "MET_INT": volume.Int32, "MET_ULONG": volume.Uint32, "MET_LONG": volume.Int32,
	"MET_ULONG_LONG": volume.Uint64, "MET_LONG_LONG": volume.Int64,
	"MET_FLOAT": volume.Float32, "MET_DOUBLE": volume.Float64,
}

// metaHeader has the fields of a MetaImage header.
type metaHeader struct {
	file   string
	fields map[string]string
	lines  map[string]int64 // offsets of the fields, in bytes
	end    int64            // of the header, in bytes
}

// isMetaImage reports whether b starts with a field that is the first of MetaImages.
func isMetaImage(b []byte) bool {
	name, _, ok := bytes.Cut(b, []byte("="))
	return ok && slices.Contains([]string{"ObjectType", "NDims", "Comment", "ObjectSubType"},
		string(bytes.TrimSpace(name)))
}

// readMetaImage reads the header: the lines up to ElementDataFile.
func readMetaImage(f *file) (*metaHeader, error) {
	h := &metaHeader{file: f.Name(), fields: map[string]string{}, lines: map[string]int64{}}
	text := make([]byte, min(f.size, maxHeader))
	if _, err := f.ReadAt(text, 0); err != nil && err != io.EOF {
		return nil, err
	}
	for line := range bytes.Lines(text) {
		at := h.end
		h.end += int64(len(line))
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		name, value, ok := strings.Cut(string(line), "=")
		name = strings.TrimSpace(name)
		if _, twice := h.fields[name]; !ok || twice {
			return nil, invalid(h.file, "header", at, "a field that occurs once", strconv.Quote(string(line)))
		}
		h.fields[name], h.lines[name] = strings.TrimSpace(value), at
		if name == "ElementDataFile" {
			return h, nil
		}
	}
	return nil, invalid(h.file, "header", h.end, fmt.Sprintf("ElementDataFile within %d bytes", maxHeader), "none")
}

func (h *metaHeader) bad(field, expected string) error {
	found := "none"
	if value, ok := h.fields[field]; ok {
		found = strconv.Quote(value)
	}
	return invalid(h.file, field, h.lines[field], expected, found)
}

// first returns the first of the fields that exists, or the last.
func (h *metaHeader) first(fields ...string) string {
	for _, f := range fields {
		if _, ok := h.fields[f]; ok {
			return f
		}
	}
	return fields[len(fields)-1]
}

// flag reads a field that is True or False. Without the field, it is false.
func (h *metaHeader) flag(field string) bool {
	value := h.fields[field]
	return value != "" && strings.ContainsRune("Tt1", rune(value[0])) // as MetaIO does
}

var metaFormat = format{is: isMetaImage, open: openMetaImage}

// openMetaImage reads the header of a MetaImage. The voxels follow the header, or are in one file in the same
// directory.
func openMetaImage(a *Array, in input) error {
	h, err := readMetaImage(in.file)
	if err != nil {
		return err
	}
	axes, err := h.describe(a)
	if err != nil {
		return err
	}
	if err := h.readPosition(a, axes); err != nil {
		return err
	}
	s := section{file: in.file, offset: h.end, exact: true}
	if name := h.fields["ElementDataFile"]; !strings.EqualFold(name, "LOCAL") {
		if !isSibling(name) || strings.HasPrefix(name, "LIST") || strings.Contains(name, "%") {
			return h.bad("ElementDataFile", "LOCAL, or the name of one file in the same directory")
		}
		if s.file, err = a.open(name); err != nil {
			return err
		}
		s.offset = 0
	}
	if h.flag("CompressedData") {
		s.encoding = zlibEncoding
	}
	if s.skip, err = h.headerSize(s, a.Grid); err != nil {
		return err
	}
	return a.setVoxels(s)
}

// headerSize reads the number of bytes before the voxels. -1 means that the voxels are the last bytes of the file.
func (h *metaHeader) headerSize(s section, g volume.Grid) (int64, error) {
	value, ok := h.fields["HeaderSize"]
	if !ok {
		return 0, nil
	}
	n, err := strconv.ParseInt(value, 10, 62)
	switch {
	case err != nil || n < -1 || n != 0 && s.encoding != rawEncoding:
		return 0, h.bad("HeaderSize", "a number of at least -1, and 0 for compressed voxels")
	case n == -1:
		return max(0, s.size-s.offset-g.Bytes()), nil
	}
	return n, nil
}

// describe reads the type and the size. It returns the number of axes.
func (h *metaHeader) describe(a *Array) (int, error) {
	if value := h.fields["ObjectType"]; value != "" && value != "Image" {
		return 0, h.bad("ObjectType", "Image")
	}
	if value, ok := h.fields["BinaryData"]; ok && !h.flag("BinaryData") && value != "" {
		return 0, h.bad("BinaryData", "True")
	}
	axes, err := parseAxes(strings.Fields(h.fields["DimSize"]))
	if err != nil || h.fields["NDims"] != fmt.Sprint(len(axes)) || len(axes) < 2 || len(axes) > 3 {
		return 0, h.bad("DimSize", "2 or 3 axes, and the same number in NDims")
	}
	a.setAxes(axes, false)
	if value, ok := h.fields["ElementNumberOfChannels"]; ok {
		n, err := parseAxes([]string{value})
		if err != nil {
			return 0, h.bad("ElementNumberOfChannels", "at least 1")
		}
		a.Grid.Channels = n[0]
	}
	var ok bool
	if a.Grid.Type, ok = metaTypes[strings.TrimSuffix(h.fields["ElementType"], "_ARRAY")]; !ok {
		return 0, h.bad("ElementType", "numbers of 8 to 64 bits")
	}
	a.bigEndian = h.flag(h.first("BinaryDataByteOrderMSB", "ElementByteOrderMSB")) && a.Grid.Type.Size() > 1
	return len(axes), a.validate(h.file)
}
