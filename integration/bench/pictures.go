package main

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
)

// picture is a chart of the first figures of jobs: horizontal bars in groups.
type picture struct {
	file  string // name in the directory of pictures
	title string
	note  string // unit, state of the page cache, and whether more is better
	bars  []bars
}

// bars are those of a job. label follows the names of the contenders. Bars of the same data are a group.
type bars struct{ data, work, label string }

// The names of the groups. PERFORMANCE.md says more.
const (
	pictureOfE = "E: image, computed"
	pictureOfR = "R: image, from a microscope"
	pictureOfQ = "Q: segmentation"

	fresh = "; no voxel is in the page cache"
)

// pictures are all charts. Their jobs are found by name in a report.
var pictures = []picture{
	{"dd.svg", "A whole file, read by dd", "GB/s, more is better" + fresh, []bars{
		{pictureOfE, "dd of E, decoded-cold", ""},
		{pictureOfR, "dd of R, decoded-cold", ""},
	}},
	{"random-reads.svg", "4 KiB at random places, one reader", "µs, median, less is better" + fresh, []bars{
		{pictureOfE, "4 KiB random preads of E, decoded-cold", ""},
		{pictureOfR, "4 KiB random preads of R, decoded-cold", ""},
		{pictureOfQ, "4 KiB random preads of Q, decoded-cold", ""},
	}},
	{"patches.svg", "Boxes of 64³ voxels at random places", "ms, median, less is better" + fresh, []bars{
		{pictureOfR, "64³ patches of R by box/, decoded-cold", ", box/"},
		{pictureOfR, "64³ patches of R by numpy.memmap, decoded-cold", ", numpy.memmap"},
		{pictureOfQ, "64³ patches of Q by box/, decoded-cold", ", box/"},
		{pictureOfQ, "64³ patches of Q by numpy.memmap, decoded-cold", ", numpy.memmap"},
	}},
}

// drawnNames are the contenders that have bars, and their names in a chart.
var drawnNames = map[string]string{
	wkwfsName:      "wkwfs",
	erofsName:      "EROFS",
	squashfsName:   "squashfs",
	squashfuseName: "squashfuse",
	plainName:      "flat file, row by row",
}

// drawPictures writes the pictures of a report to a directory. It leaves out a picture for which the report has no
// figures, and returns how many it drew.
func drawPictures(dir string, r report) (drawn int, err error) {
	err = os.MkdirAll(dir, 0o777)
	for _, p := range pictures {
		c := newChart(p, r)
		if len(c.Lines) == 0 {
			continue
		}
		var text bytes.Buffer
		err = errors.Join(err, chartTemplate.Execute(&text, c))
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, p.file), text.Bytes(), 0o666))
		drawn++
	}
	return drawn, err
}

// drawReport draws the pictures of a file that report.write wrote.
func drawReport(dir, path string) error {
	r, err := readReport(path)
	if err != nil {
		return err
	}
	drawn, err := drawPictures(dir, r)
	if drawn == 0 {
		return fmt.Errorf("%s: it has no figures for any picture", path)
	}
	return err
}

// chart is a picture with the places of its parts, in pixels.
type chart struct {
	Title, Note, Machine string
	Height               int
	Lines                []chartLine
}

// chartLine is a bar, or the name of a group if it has no value.
type chartLine struct {
	Name, Value    string
	Y, TextY, Size int  // Size is the length of the bar
	Own            bool // the bar is that of wkwfs
}

// Sizes of a chart in pixels. The template has those that nothing is computed from.
const (
	chartTop    = 64 // of the first line
	barStart    = 246
	longestBar  = 430
	lineHeight  = 22
	groupSpace  = 8
	chartBottom = 26
)

// ValueX returns where the value of a bar starts.
func (l chartLine) ValueX() int { return barStart + l.Size + 8 }

// FootY returns the baseline of the last line.
func (c chart) FootY() int { return c.Height - 10 }

//go:embed chart.svg
var chartText string

var chartTemplate = template.Must(template.New("chart.svg").Parse(chartText))

// newChart places the bars of a picture for which the report has figures. All bars have the same scale.
func newChart(p picture, r report) chart {
	parts := strings.Split(r.Machine, "; ")
	c := chart{Title: p.title, Note: p.note, Machine: strings.Join(parts[:min(3, len(parts))], ", ")}
	contenders := map[string][]contender{}
	for _, o := range r.Jobs {
		contenders[o.Work] = o.Contenders
	}
	var medians []float64
	y, group := chartTop-lineHeight, ""
	add := func(l chartLine, value float64) {
		y += lineHeight
		l.Y, l.TextY = y, y+15
		c.Lines = append(c.Lines, l)
		medians = append(medians, value)
	}
	for _, b := range p.bars {
		for _, contender := range contenders[b.work] {
			name := drawnNames[contender.Name]
			if name == "" || len(contender.Turns) == 0 {
				continue
			}
			if b.data != group {
				if group != "" {
					y += groupSpace
				}
				add(chartLine{Name: b.data}, 0)
				group = b.data
			}
			if contender.Name != plainName {
				name += b.label
			}
			value := median(contender.values(0))
			add(chartLine{Name: name, Value: number(value), Own: strings.HasPrefix(name, wkwfsName)}, value)
		}
	}
	for i, v := range medians {
		c.Lines[i].Size = max(1, int(v/slices.Max(medians)*longestBar))
	}
	c.Height = y + lineHeight + groupSpace + chartBottom
	return c
}
