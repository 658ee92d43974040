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

	"github.com/wkwfs/wkwfs/internal/jobs/inspect"
	"github.com/wkwfs/wkwfs/internal/small/hint"
	"github.com/wkwfs/wkwfs/volume"
)

// printReport prints a table for each layer.
func printReport(w io.Writer, r *inspect.Report) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s: %s%s\n", hint.Escape(r.Source), r.Kind, voxelSizeText(r))
	for _, l := range r.Layers {
		printLayer(&b, l)
	}
	printReasons(&b, "not shown", r.NotShown)
	printReasons(&b, "warnings", r.Warnings)
	_, err := w.Write(b.Bytes())
	return err
}

// printReasons prints places with a reason for each, below a title.
func printReasons(b *bytes.Buffer, title string, places []inspect.Omitted) {
	if len(places) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s\n", title)
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	for _, p := range places {
		fmt.Fprintf(t, "  %s\t%s\n", hint.Escape(p.Name), p.Reason)
	}
	t.Flush() // writing to memory cannot fail
}

// voxelSizeText returns the voxel size of mag 1, which all layers of a dataset share.
func voxelSizeText(r *inspect.Report) string {
	for _, l := range r.Layers {
		for _, m := range l.Mags {
			if f := m.Factor; m.VoxelSize != nil && min(f[0], f[1], f[2]) > 0 {
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

func printLayer(b *bytes.Buffer, l inspect.Layer) {
	b.WriteString("\n")
	if l.Name != "" {
		b.WriteString(hint.Escape(l.Name))
		if l.Category != "" && l.Category != l.Name {
			fmt.Fprintf(b, " (%s)", hint.Escape(l.Category))
		}
		b.WriteString("\n")
	}
	if l.Assumed != "" {
		fmt.Fprintf(b, "  %s\n", hint.Escape(l.Assumed))
	}
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "  MAG\tTYPE\tBOX\tBOX IN MAG 1\tBLOCK\tCUBE\tBLOCKS AS\tCUBES\tFILES\tFLAT")
	for _, m := range l.Mags {
		fmt.Fprintf(t, "  %s\t%s\t%s\t%s\t%s\t%s\t%s\t%d\t%s\t%s\n",
			hint.Escape(cmp.Or(m.Name, m.Factor.String())), typeText(m), boxText(m.Box), boxText(m.BoxMag1),
			extent(m.Block), extent(m.Cube),
			hint.Escape(orDash(m.Compression)), m.Cubes, humanize.IBytes(uint64(m.StoredBytes)),
			humanize.IBytes(uint64(m.FlatBytes)))
	}
	t.Flush() // writing to memory cannot fail
	for _, m := range l.Mags {
		if m.Numpy != "" {
			fmt.Fprintf(b, "  %s\n", hint.Escape(m.Numpy))
			return // one line is an example for all
		}
	}
}

// typeText returns the type of a voxel, channels included.
func typeText(m inspect.Mag) string {
	if m.Channels == 1 {
		return m.DType
	}
	return fmt.Sprintf("%d × %s", m.Channels, m.DType)
}

// boxText returns "100-310 70-250 34-126": x, y and z.
func boxText(b inspect.Box) string {
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
