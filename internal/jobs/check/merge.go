package check

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/wkwfs/wkwfs/internal/small/hint"
)

// Summary is what a check counts: the last line of its report as JSON. It is an interface: programs read it.
type Summary struct {
	Cubes       int64        `json:"cubes"`
	Blocks      int64        `json:"blocks"`
	Bytes       int64        `json:"bytes"` // of undamaged blocks, decoded
	Errors      int          `json:"errors"`
	Warnings    int          `json:"warnings"`
	Notes       int          `json:"notes"`
	Seconds     float64      `json:"seconds"`
	Interrupted bool         `json:"interrupted,omitempty"` // not all was checked
	Part        *SummaryPart `json:"part,omitempty"`        // with --part
}

// SummaryPart is the part of a check.
type SummaryPart struct {
	I    int    `json:"i"` // from 1
	N    int    `json:"n"`
	Plan string `json:"plan"` // identifies the cubes of all parts, and their stored bytes
}

// Reports are the reports of a check in parts.
type Reports struct {
	N int // number of parts; 0: no report is complete

	files []string
	parts map[int]reportAt // the newest complete report of each part
	plan  string           // of all parts
}

// reportAt is a report and where it is.
type reportAt struct {
	place   reportPlace
	summary Summary
}

// reportPlace is the place of a report. A file may have several: a summary ends a report.
type reportPlace struct {
	file  string
	index int // in the file
}

// ReadReports reads the summaries of reports. A report that is not complete does not count. Of two reports of one part,
// the later counts: the part was run again. ReadReports fails if the reports do not belong together.
func ReadReports(files []string) (*Reports, error) {
	r := &Reports{files: slices.Compact(slices.Sorted(slices.Values(files))), parts: map[int]reportAt{}}
	for _, file := range files {
		if err := r.add(file); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return r, nil
}

// add reads the summaries of a file.
func (r *Reports) add(file string) error {
	index := 0
	return eachLine(file, func(line []byte, l reportLine) error {
		if l.Summary == nil {
			return nil
		}
		at := reportAt{reportPlace{file, index}, *l.Summary}
		index++
		part := at.summary.Part
		switch {
		case part == nil:
			return errors.New("a report of a whole check: expected one of --part")
		case part.I < 1 || part.I > part.N:
			return fmt.Errorf("part %d/%d does not exist", part.I, part.N)
		case at.summary.Interrupted:
			return nil
		case r.N == 0:
			r.N, r.plan = part.N, part.Plan
		case r.N != part.N:
			return fmt.Errorf("part %d/%d: the reports before are of %d parts", part.I, part.N, r.N)
		case r.plan != part.Plan:
			return hint.Errorf("check all parts again",
				"part %d/%d: the source has changed between the parts: cubes may be in no part", part.I, part.N)
		}
		r.parts[part.I] = at
		return nil
	})
}

// Missing returns the parts without a complete report.
func (r *Reports) Missing() (parts []int) {
	for i := 1; i <= r.N; i++ {
		if _, ok := r.parts[i]; !ok {
			parts = append(parts, i)
		}
	}
	return parts
}

// Summary returns the sum of all parts, without the numbers of findings.
func (r *Reports) Summary() Summary {
	sum := Summary{Interrupted: len(r.Missing()) > 0}
	for _, p := range r.parts {
		sum.Cubes += p.summary.Cubes
		sum.Blocks += p.summary.Blocks
		sum.Bytes += p.summary.Bytes
		sum.Seconds += p.summary.Seconds
	}
	return sum
}

// ReportFinding has the fields of a finding in a report that a merge needs.
type ReportFinding struct {
	Severity Severity `json:"severity"`
	Path     string   `json:"path"`
	Cube     *[3]int  `json:"cube"`
	Error    string   `json:"error"`
}

// Findings calls do with the findings of the parts and the lines that have them. What every part has found, such as a
// directory that cannot be listed, comes once.
func (r *Reports) Findings(do func(line []byte, f ReportFinding)) error {
	counts := map[reportPlace]bool{}
	for _, p := range r.parts {
		counts[p.place] = true
	}
	common := map[string]bool{}
	for _, file := range r.files {
		at := reportPlace{file: file}
		err := eachLine(file, func(line []byte, l reportLine) error {
			switch isCommon := l.Cube == nil; {
			case l.Summary != nil:
				at.index++
			case !counts[at], isCommon && common[string(line)]:
			default:
				if isCommon {
					common[string(line)] = true
				}
				do(line, l.ReportFinding)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// reportLine is a line of a report: a summary, or a finding.
type reportLine struct {
	ReportFinding
	Summary *Summary `json:"summary"`
}

// maxReportLine is the most bytes of a line of a report.
const maxReportLine = 1 << 20

const reportHint = "a report is what wkwfs check --json prints"

// eachLine calls do with each line of a report. The last line may be incomplete: its check was killed.
func eachLine(file string, do func(line []byte, l reportLine) error) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, maxReportLine)
	for n := 1; ; n++ {
		line, err := r.ReadSlice('\n')
		switch {
		case err == io.EOF && len(line) > 0 && line[0] != '{':
			return hint.Errorf(reportHint, "line %d is not of a report", n)
		case err == io.EOF:
			return nil
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		var l reportLine
		if err := json.Unmarshal(line, &l); err != nil || l.Summary == nil && l.Severity == "" {
			return hint.Errorf(reportHint, "line %d is not of a report", n)
		}
		if err := do(line, l); err != nil {
			return err
		}
	}
}
