package header

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/wkwfs/wkwfs/volume"
)

// NRRD returns the attached header of an .nrrd file: lines of text, an empty line,
// voxels. Comment lines fill it up to [Align].
func NRRD(a Array) ([]byte, error) {
	if err := a.check(); err != nil {
		return nil, err
	}
	h := nrrdFields(a)
	gap := roundUp(len(h)+1, Align) - len(h) - 1
	if gap == 1 {
		gap += Align // the shortest comment has two bytes
	}
	h = append(h, comments(gap)...)
	return append(h, '\n'), nil
}

// NHDR returns the detached header of an .nhdr file, which names the raw file.
func NHDR(a Array) ([]byte, error) {
	if err := a.checkDetached(); err != nil {
		return nil, err
	}
	// A name that begins with "LIST" or holds a "%" has a meaning of its own there.
	if strings.HasPrefix(a.Data, "LIST") || strings.Contains(a.Data, "%") {
		return nil, &Unrepresentable{"NRRD", fmt.Sprintf("%q has another meaning as a data file", a.Data)}
	}
	return fmt.Appendf(nrrdFields(a), "data file: %s\n", a.Data), nil
}

// nrrdFields returns the lines that both kinds of header have. The axes are those
// of the bytes, fastest first; the channels are an axis without a direction. (VTK
// takes a first axis of up to 9 voxels for channels too, whatever its kind.)
func nrrdFields(a Array) []byte {
	var b bytes.Buffer
	g := a.Grid
	sizes := fmt.Sprintf("%d %d %d", g.Size[0], g.Size[1], g.Size[2])
	kinds, none, dimension := "domain domain domain", "", 3
	if g.Channels > 1 {
		kind := "vector"
		if a.rgb() {
			kind = "RGB-color"
		}
		sizes, kinds = fmt.Sprintf("%d %s", g.Channels, sizes), kind+" "+kinds
		none, dimension = "none ", 4
	}
	spacing, origin, known := a.world(1)

	b.WriteString("NRRD0004\n")
	if a.Name != "" {
		fmt.Fprintf(&b, "content: %s\n", oneLine(a.Name))
	}
	fmt.Fprintf(&b, "type: %s\n", nrrdType(g.Type))
	fmt.Fprintf(&b, "dimension: %d\n", dimension)
	fmt.Fprintf(&b, "sizes: %s\n", sizes)
	// After the sizes: VTK takes it for the number of sizes. There is no space name, as
	// the axes are nobody's left or right.
	fmt.Fprintf(&b, "space dimension: 3\n")
	fmt.Fprintf(&b, "space directions: %s(%v,0,0) (0,%v,0) (0,0,%v)\n", none, spacing[0], spacing[1], spacing[2])
	fmt.Fprintf(&b, "kinds: %s\n", kinds)
	if g.Type.Size() > 1 {
		b.WriteString("endian: little\n")
	}
	b.WriteString("encoding: raw\n")
	if known {
		b.WriteString("space units: \"nm\" \"nm\" \"nm\"\n")
	}
	fmt.Fprintf(&b, "space origin: (%v,%v,%v)\n", origin[0], origin[1], origin[2])
	return b.Bytes()
}

// nrrdType returns NRRD's name of the type: numpy's, but for the floats.
func nrrdType(t volume.Type) string {
	switch t {
	case volume.Float32:
		return "float"
	case volume.Float64:
		return "double"
	}
	return t.String()
}

// comments returns comment lines of n bytes in all; n is not 1.
func comments(n int) string {
	const line = 64
	var b strings.Builder
	for n > 0 {
		take := min(n, line)
		if n-take == 1 {
			take-- // leave two bytes for the last line
		}
		b.WriteString("#" + strings.Repeat(" ", take-2) + "\n")
		n -= take
	}
	return b.String()
}
