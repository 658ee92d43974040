package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
)

// picture is a chart of one figure: grouped horizontal bars.
type picture struct {
	file   string // name in the directory of pictures
	title  string
	note   string // unit, state of the page cache, and whether more is better
	groups []barGroup
}

// barGroup is the bars of the same data.
type barGroup struct {
	name string
	jobs []barJob
}

// barJob is a job whose first figure is drawn. label follows the names of the contenders.
type barJob struct{ work, label string }

// dataNames says what the data is. PERFORMANCE.md says more.
var dataNames = map[string]string{
	dataE: "E: image, computed",
	dataR: "R: image, from a microscope",
	dataQ: "Q: segmentation",
}

// pictures are all charts. Their jobs are found by name in a report.
var pictures = []picture{
	{"dd.svg", "A whole file, read by dd", "GB/s, more is better; no voxel is in the page cache", []barGroup{
		group(dataE, "dd of E, decoded-cold", ""),
		group(dataR, "dd of R, decoded-cold", ""),
	}},
	{"random-reads.svg", "4 KiB at random places, one reader", "µs, median, less is better; no voxel is in the page cache", []barGroup{
		group(dataE, "4 KiB random preads of E, decoded-cold", ""),
		group(dataR, "4 KiB random preads of R, decoded-cold", ""),
		group(dataQ, "4 KiB random preads of Q, decoded-cold", ""),
	}},
	{"patches.svg", "Boxes of 64³ voxels at random places", "ms, median, less is better; no voxel is in the page cache", []barGroup{
		group(dataR, "64³ patches of R by box/, decoded-cold", ", box/", "64³ patches of R by numpy.memmap, decoded-cold", ", numpy.memmap"),
		group(dataQ, "64³ patches of Q by box/, decoded-cold", ", box/", "64³ patches of Q by numpy.memmap, decoded-cold", ", numpy.memmap"),
	}},
}

// group returns the bars of some data: pairs of a job's name and its label.
func group(data string, jobs ...string) barGroup {
	g := barGroup{name: dataNames[data]}
	for pair := range slices.Chunk(jobs, 2) {
		g.jobs = append(g.jobs, barJob{pair[0], pair[1]})
	}
	return g
}

// drawnNames are the contenders that have bars, and their names in a chart.
var drawnNames = map[string]string{
	"wkwfs":        "wkwfs",
	erofsName:      "EROFS",
	squashfsName:   "squashfs",
	squashfuseName: "squashfuse",
	plainName:      "flat file, row by row",
}

// drawPictures writes the pictures of a report to a directory. It leaves out a picture for which the report has no
// figures, and returns how many it drew.
func drawPictures(dir string, r report) (drawn int, err error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return 0, err
	}
	for _, p := range pictures {
		c := newChart(p, r)
		if len(c.Lines) == 0 {
			continue
		}
		var text bytes.Buffer
		if err := chartTemplate.Execute(&text, c); err != nil {
			return drawn, err
		}
		if err := os.WriteFile(filepath.Join(dir, p.file), text.Bytes(), 0o666); err != nil {
			return drawn, err
		}
		drawn++
	}
	return drawn, nil
}

// drawReport draws the pictures of a file that report.write wrote.
func drawReport(dir, path string) error {
	r, err := readReport(path)
	if err != nil {
		return err
	}
	if drawn, err := drawPictures(dir, r); err != nil || drawn > 0 {
		return err
	}
	return fmt.Errorf("%s: it has no figures for any picture", path)
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
	c := chart{Title: p.title, Note: p.note, Machine: r.shortMachine()}
	var values []float64
	y := chartTop
	for _, g := range p.groups {
		names, medians := g.bars(r)
		if len(names) == 0 {
			continue
		}
		c.Lines = append(c.Lines, chartLine{Name: g.name, Y: y, TextY: y + 15})
		values = append(values, 0)
		for i, name := range names {
			y += lineHeight
			c.Lines = append(c.Lines, chartLine{
				Name: name, Value: number(medians[i]), Y: y, TextY: y + 15, Own: strings.HasPrefix(name, drawnNames["wkwfs"]),
			})
			values = append(values, medians[i])
		}
		y += lineHeight + groupSpace
	}
	for i, v := range values {
		c.Lines[i].Size = max(1, int(v/slices.Max(values)*longestBar))
	}
	c.Height = y + chartBottom
	return c
}

// bars returns the names of the contenders of a group and the medians of their first figures.
func (g barGroup) bars(r report) (names []string, medians []float64) {
	for _, j := range g.jobs {
		for _, c := range r.contenders(j.work) {
			name := drawnNames[c.Name]
			if name == "" || len(c.Turns) == 0 {
				continue
			}
			var values []float64
			for _, t := range c.Turns {
				values = append(values, t.Values[:min(1, len(t.Values))]...)
			}
			if c.Name != plainName {
				name += j.label
			}
			names = append(names, name)
			medians = append(medians, median(values))
		}
	}
	return names, medians
}

// contenders returns those of a job, or nil if the report does not have the job.
func (r report) contenders(work string) []reportedTurns {
	i := slices.IndexFunc(r.Jobs, func(j reported) bool { return j.Work == work })
	if i < 0 {
		return nil
	}
	return r.Jobs[i].Contenders
}

// shortMachine returns the processor, the kernel and the version of wkwfs.
func (r report) shortMachine() string {
	parts := strings.Split(r.Machine, "; ")
	return strings.Join(parts[:min(3, len(parts))], ", ")
}
