package header

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"github.com/wkwfs/wkwfs/internal/fileformat/nrrd"
)

// NRRD returns the attached header of an .nrrd file: lines of text and an empty line. Comment lines pad it to a
// multiple of [Align].
func NRRD(a Array) ([]byte, error) {
	if err := a.check(); err != nil {
		return nil, err
	}
	h := nrrdFields(a)
	padding := roundUp(len(h)+1, Align) - len(h) - 1
	if padding == 1 {
		padding += Align // the shortest comment has two bytes
	}
	h = append(h, comments(padding)...)
	return append(h, '\n'), nil
}

// NHDR returns the detached header of an .nhdr file, with the name of the raw file.
func NHDR(a Array) ([]byte, error) {
	if err := a.checkDetached(); err != nil {
		return nil, err
	}
	// In NRRD, a name that starts with "LIST" or contains "%" stands for several files.
	if strings.HasPrefix(a.Data, "LIST") || strings.Contains(a.Data, "%") {
		return nil, &Unrepresentable{"NRRD", fmt.Sprintf("%q has another meaning as a data file", a.Data)}
	}
	return fmt.Appendf(nrrdFields(a), "data file: %s\n", a.Data), nil
}

// nrrdFields returns the lines of both kinds of header. Axes are in the order of the bytes, fastest first. The
// channels are an axis without a direction. (VTK treats a first axis of up to 9 voxels as channels, whatever its
// kind.)
func nrrdFields(a Array) []byte {
	var b bytes.Buffer
	g := a.Grid
	sizes := fmt.Sprintf("%d %d %d", g.Size[0], g.Size[1], g.Size[2])
	kinds, none, dimension := "domain domain domain", "", 3
	if g.Channels > 1 {
		kind := "vector"
		if a.isRGB() {
			kind = "RGB-color"
		}
		sizes, kinds = fmt.Sprintf("%d %s", g.Channels, sizes), kind+" "+kinds
		none, dimension = "none ", 4
	}
	unit := cmp.Or(a.Unit, Nanometre)
	spacing, origin, calibrated := a.world(unit)

	b.WriteString(nrrd.Magic + "4\n")
	if a.Name != "" {
		fmt.Fprintf(&b, "content: %s\n", oneLine(a.Name))
	}
	fmt.Fprintf(&b, "type: %s\n", nrrd.TypeName(g.Type))
	fmt.Fprintf(&b, "dimension: %d\n", dimension)
	fmt.Fprintf(&b, "sizes: %s\n", sizes)
	// This field must come after the sizes: VTK treats it as the number of sizes. There is no space name, because the
	// axes have no anatomical direction.
	fmt.Fprintf(&b, "space dimension: 3\n")
	fmt.Fprintf(&b, "space directions: %s(%v,0,0) (0,%v,0) (0,0,%v)\n", none, spacing[0], spacing[1], spacing[2])
	fmt.Fprintf(&b, "kinds: %s\n", kinds)
	if g.Type.Size() > 1 {
		b.WriteString("endian: little\n")
	}
	b.WriteString("encoding: raw\n")
	if calibrated {
		fmt.Fprintf(&b, "space units: \"%[1]s\" \"%[1]s\" \"%[1]s\"\n", unit)
	}
	fmt.Fprintf(&b, "space origin: (%v,%v,%v)\n", origin[0], origin[1], origin[2])
	return b.Bytes()
}

// comments returns comment lines with n bytes in total. n must not be 1.
func comments(n int) string {
	const line = 64
	var b strings.Builder
	for n > 0 {
		take := min(n, line)
		if n-take == 1 {
			take-- // the last line needs two bytes
		}
		b.WriteString("#" + strings.Repeat(" ", take-2) + "\n")
		n -= take
	}
	return b.String()
}
