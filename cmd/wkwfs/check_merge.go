package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/pflag"

	"github.com/wkwfs/wkwfs/internal/jobs/batch"
	"github.com/wkwfs/wkwfs/internal/jobs/check"
	"github.com/wkwfs/wkwfs/internal/small/hint"
)

// checkMerge is the result of reading the reports of a check in parts.
type checkMerge struct {
	parts map[int]reportAt // the newest complete report of each part
	n     int              // number of parts; 0: no summary was read
	plan  string           // of all parts
}

// reportAt is a report and where it is.
type reportAt struct {
	place   reportPlace
	summary summaryJSON
}

// reportPlace is the place of a report. A file may have several: a summary ends a report.
type reportPlace struct {
	file  string
	index int // in the file
}

// mergeChecks prints the reports of all parts as one. A report that is not complete does not count. Of two reports of one
// part, the later argument counts: the part was run again. It returns errPrinted if there are errors in the source.
func mergeChecks(files []string, flags *pflag.FlagSet, asJSON bool, stdout io.Writer) error {
	for _, name := range []string{"part", "jobs"} {
		if flags.Changed(name) {
			return hint.Usagef("give it to the checks of the parts", "--%s is not for --merge", name)
		}
	}
	m := checkMerge{parts: map[int]reportAt{}}
	for _, file := range files {
		if err := m.add(file); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	if m.n == 0 {
		return hint.Errorf("wkwfs check --json --part 1/8 SOURCE > REPORT writes one", "no report of a part is complete")
	}
	screen := newCheckScreen(stdout, nil, asJSON)
	if err := m.print(screen, files); err != nil {
		return err
	}
	switch missing := m.missing(); {
	case screen.failed != nil:
		return fmt.Errorf("printing the result: %w", screen.failed)
	case len(missing) > 0:
		return hint.Errorf(fmt.Sprintf("wkwfs check --json --part %d/%d SOURCE > REPORT", missing[0], m.n), "of %d parts, %s", m.n, batch.MissingText(missing))
	case screen.found[check.Error] > 0:
		return errPrinted
	}
	return nil
}

// add reads the summaries of a file.
func (m *checkMerge) add(file string) error {
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
		case m.n == 0:
			m.n, m.plan = part.N, part.Plan
		case m.n != part.N:
			return fmt.Errorf("part %d/%d: the reports before are of %d parts", part.I, part.N, m.n)
		case m.plan != part.Plan:
			return hint.Errorf("check all parts again", "part %d/%d: the source has changed between the parts: cubes may be in no part", part.I, part.N)
		}
		m.parts[part.I] = at
		return nil
	})
}

// print prints the findings of the parts, and a summary of all. What every part has found, such as a directory that cannot be
// listed, is printed once.
func (m *checkMerge) print(screen *checkScreen, files []string) error {
	counts := map[reportPlace]bool{}
	sum := summaryJSON{Interrupted: len(m.missing()) > 0}
	for _, r := range m.parts {
		counts[r.place] = true
		sum.Cubes += r.summary.Cubes
		sum.Blocks += r.summary.Blocks
		sum.Bytes += r.summary.Bytes
		sum.Seconds += r.summary.Seconds
	}
	common := map[string]bool{}
	for _, file := range slices.Compact(slices.Sorted(slices.Values(files))) {
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
				screen.line(line, l.faultLine)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	sum.Errors, sum.Warnings, sum.Notes = screen.found[check.Error], screen.found[check.Warning], screen.found[check.Note]
	screen.writeSummary(sum)
	return nil
}

// missing returns the parts without a complete report.
func (m *checkMerge) missing() (parts []int) {
	for i := 1; i <= m.n; i++ {
		if _, ok := m.parts[i]; !ok {
			parts = append(parts, i)
		}
	}
	return parts
}

// reportLine is a line of a report: a summary, or a finding.
type reportLine struct {
	faultLine
	Summary *summaryJSON `json:"summary"`
}

// faultLine has the fields of a finding that a merge needs.
type faultLine struct {
	Severity check.Severity `json:"severity"`
	Path     string         `json:"path"`
	Cube     *[3]int        `json:"cube"`
	Error    string         `json:"error"`
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

// line prints a line of a report.
func (s *checkScreen) line(raw []byte, f faultLine) {
	s.found[f.Severity]++
	if s.json {
		s.write(string(raw))
		return
	}
	s.write(faultJSON{Severity: f.Severity, Path: f.Path, Error: f.Error}.text())
}
