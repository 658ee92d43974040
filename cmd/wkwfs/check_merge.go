package main

import (
	"fmt"
	"io"

	"github.com/spf13/pflag"

	"github.com/wkwfs/wkwfs/internal/jobs/batch"
	"github.com/wkwfs/wkwfs/internal/jobs/check"
	"github.com/wkwfs/wkwfs/internal/small/hint"
)

// mergeChecks prints the reports of all parts as one. It returns errPrinted if there are errors in the source.
func mergeChecks(files []string, flags *pflag.FlagSet, asJSON bool, stdout io.Writer) error {
	for _, name := range []string{"part", "jobs"} {
		if flags.Changed(name) {
			return hint.Usagef("give it to the checks of the parts", "--%s is not for --merge", name)
		}
	}
	reports, err := check.ReadReports(files)
	if err != nil {
		return err
	}
	if reports.N == 0 {
		return hint.Errorf("wkwfs check --json --part 1/8 SOURCE > REPORT writes one",
			"no report of a part is complete")
	}
	screen := newCheckScreen(stdout, nil, asJSON)
	if err := reports.Findings(screen.line); err != nil {
		return err
	}
	sum := reports.Summary()
	screen.count(&sum)
	screen.writeSummary(sum)
	switch missing := reports.Missing(); {
	case screen.failed != nil:
		return fmt.Errorf("printing the result: %w", screen.failed)
	case len(missing) > 0:
		advice := fmt.Sprintf("wkwfs check --json --part %d/%d SOURCE > REPORT", missing[0], reports.N)
		return hint.Errorf(advice, "of %d parts, %s", reports.N, batch.MissingText(missing))
	case screen.found[check.Error] > 0:
		return errPrinted
	}
	return nil
}

// line prints a line of a report.
func (s *checkScreen) line(raw []byte, f check.ReportFinding) {
	s.found[f.Severity]++
	if s.json {
		s.write(string(raw))
		return
	}
	s.write(faultJSON{Severity: f.Severity, Path: f.Path, Error: f.Error}.text())
}
