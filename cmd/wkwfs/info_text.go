package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/dustin/go-humanize"

	"github.com/wkwfs/wkwfs/volume"
)

// print writes the result for people: a table for each layer.
func (r *sourceInfo) print(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s: %s%s\n", r.Source, r.Kind, r.voxelSize())
	for _, l := range r.Layers {
		l.print(&b)
	}
	if len(r.NotShown) > 0 {
		b.WriteString("\nnot shown\n")
		t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		for _, n := range r.NotShown {
			fmt.Fprintf(t, "  %s\t%s\n", n.Name, n.Reason)
		}
		t.Flush() // into memory: it cannot fail
	}
	_, err := w.Write(b.Bytes())
	return err
}

// voxelSize names the voxel size of mag 1, which all layers of a dataset share.
func (r *sourceInfo) voxelSize() string {
	for _, l := range r.Layers {
		for _, m := range l.Mags {
			if m.VoxelSize != nil {
				var nm [3]string
				for axis, s := range m.VoxelSize {
					nm[axis] = strconv.FormatFloat(s/float64(m.Factor[axis]), 'g', 6, 64)
				}
				return fmt.Sprintf(", voxels of %s nm", strings.Join(nm[:], " × "))
			}
		}
	}
	return ""
}

func (l *layerInfo) print(b *bytes.Buffer) {
	b.WriteString("\n")
	if l.Name != "" {
		b.WriteString(l.Name)
		if l.Category != "" && l.Category != l.Name {
			fmt.Fprintf(b, " (%s)", l.Category)
		}
		b.WriteString("\n")
	}
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "  MAG\tTYPE\tBOX\tBOX IN MAG 1\tBLOCK\tCUBE\tBLOCKS AS\tCUBES\tFILES\tFLAT")
	for _, m := range l.Mags {
		fmt.Fprintf(t, "  %s\t%s\t%s\t%s\t%s\t%s\t%s\t%d\t%s\t%s\n",
			cmp.Or(m.Name, m.Factor.String()), m.valueType(), m.Box, m.BoxMag1, extent(m.Block), extent(m.Cube),
			orDash(m.Compression), m.Cubes, humanize.IBytes(uint64(m.StoredBytes)), humanize.IBytes(uint64(m.FlatBytes)))
	}
	t.Flush() // into memory: it cannot fail
	for _, m := range l.Mags {
		if m.Numpy != "" {
			fmt.Fprintf(b, "  %s\n", m.Numpy)
			return // one shows how
		}
	}
}

// valueType names the type of a voxel, channels included.
func (m *magInfo) valueType() string {
	if m.Channels == 1 {
		return m.DType
	}
	return fmt.Sprintf("%d × %s", m.Channels, m.DType)
}

// String returns "100-310 70-250 34-126": x, y and z.
func (b boxInfo) String() string {
	return fmt.Sprintf("%d-%d %d-%d %d-%d", b.Min[0], b.Max[0], b.Min[1], b.Max[1], b.Min[2], b.Max[2])
}

// extent returns "32³", or "64×64×16" where the axes differ.
func extent(v volume.Vec) string {
	if v == volume.Cube(v[0]) {
		return fmt.Sprintf("%d³", v[0])
	}
	return fmt.Sprintf("%d×%d×%d", v[0], v[1], v[2])
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
