package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/dustin/go-humanize"
	"golang.org/x/term"

	"github.com/wkwfs/wkwfs/internal/status"
)

// statusScreen returns what shows a status: as text, on a terminal in the same place when it
// is to be watched, or for programs, then one a line.
func statusScreen(out io.Writer, asJSON, watch bool) (show func(status.Status) error) {
	if asJSON {
		e := json.NewEncoder(out)
		if !watch {
			e.SetIndent("", "  ")
		}
		return func(s status.Status) error { return e.Encode(s) }
	}
	if f, ok := out.(*os.File); ok && watch && term.IsTerminal(int(f.Fd())) {
		return (&redrawn{out: f}).show
	}
	between := ""
	return func(s status.Status) error {
		_, err := io.WriteString(out, between+statusText(s))
		between = "\n"
		return err
	}
}

// redrawn is text on a terminal that is written over the text before it.
type redrawn struct {
	out   *os.File
	lines int // that are on the terminal
}

func (r *redrawn) show(s status.Status) error {
	_, height, err := term.GetSize(int(r.out.Fd()))
	if err != nil {
		return err
	}
	_, err = io.WriteString(r.out, r.over(statusText(s), height))
	return err
}

// Sequences for terminals, as ECMA-48 and all emulators have them.
const (
	lineUp       = "\x1b[%dA"
	clearLine    = "\x1b[K"
	clearBelow   = "\x1b[J"
	wrapLinesNot = "\x1b[?7l"
	wrapLines    = "\x1b[?7h"
)

// over returns what writes the text over the last one. Lines that are too long are cut by the
// terminal, and those that it has no room for left out: the way back up could not be told.
func (r *redrawn) over(text string, height int) string {
	var b strings.Builder
	b.WriteString(wrapLinesNot)
	if r.lines > 0 {
		fmt.Fprintf(&b, lineUp, r.lines)
	}
	r.lines = 0
	for line := range strings.Lines(text) {
		if r.lines >= height-1 {
			break
		}
		b.WriteString(strings.TrimSuffix(line, "\n") + clearLine + "\n")
		r.lines++
	}
	b.WriteString(clearBelow + wrapLines)
	return b.String()
}

// statusText is a status for people.
func statusText(s status.Status) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s shows %s\nup %s, wkwfs %s, process %d: %s, %d goroutines\n\n",
		printable(s.Mountpoint), printable(s.Source), secondsText(s.Uptime), s.Version, s.PID, bytesText(int64(s.Process.MemoryBytes)), s.Process.Goroutines)
	table := tabwriter.NewWriter(&b, 12, 0, 2, ' ', 0)
	fmt.Fprintf(table, "\tSINCE START\tLAST %.2g S\n", s.Now.Seconds)
	fmt.Fprintf(table, "reads\t%s\t%s/s\n", countText(s.Reads.Count), humanize.Ftoa(rounded(s.Now.ReadsPerSecond)))
	fmt.Fprintf(table, "bytes\t%s\t%s/s\n", bytesText(int64(s.Reads.Bytes)), bytesText(int64(s.Now.BytesPerSecond)))
	fmt.Fprintf(table, "p50\t%s\t%s\n", secondsText(s.Reads.P50), secondsText(s.Now.P50))
	fmt.Fprintf(table, "p99\t%s\t%s\n", secondsText(s.Reads.P99), secondsText(s.Now.P99))
	_ = table.Flush() // a buffer takes all
	fmt.Fprintf(&b, "\ncache       %s of %s, %.1f %% hits, %s blocks decoded (%s), %s dropped\n",
		bytesText(s.Cache.HeldBytes), bytesText(s.Cache.BudgetBytes), 100*s.Cache.HitRate,
		countText(s.Cache.Decoded), bytesText(int64(s.Cache.DecodedBytes)), countText(s.Cache.Dropped))
	b.WriteString(sourceText(s.SourceIO))
	fmt.Fprintf(&b, "errors      %s\n", errorsText(s.Errors))
	fmt.Fprintf(&b, "slow reads  %s\n", slowText(s.SlowReads))
	return b.String()
}

// sourceText tells how the source answers, in two lines.
func sourceText(s status.SourceIO) string {
	text := fmt.Sprintf("source      %s reads (%s), %s looks, %d under way (at most %d so far)",
		countText(s.Reads), bytesText(int64(s.ReadBytes)), countText(s.Looks), s.UnderWay, s.MostUnderWay)
	if s.LongestWait >= longWait {
		text += ", one of them for " + secondsText(s.LongestWait)
	}
	if s.Late {
		text += "; it answers late"
	}
	return text + fmt.Sprintf("\n            reads p50 %s, p99 %s; looks p50 %s, p99 %s\n",
		secondsText(s.ReadLatency.P50), secondsText(s.ReadLatency.P99), secondsText(s.LookLatency.P50), secondsText(s.LookLatency.P99))
}

// longWait is how long, in seconds, a request has to wait to be worth telling of.
const longWait = 1

// errorsText lists the kinds of errors that there were.
func errorsText(errors map[status.Kind]uint64) string {
	var all []string
	for _, kind := range status.Kinds() {
		if n := errors[kind]; n > 0 {
			all = append(all, countText(n)+" "+strings.ReplaceAll(string(kind), "_", " "))
		}
	}
	if len(all) == 0 {
		return "none"
	}
	return strings.Join(all, ", ")
}

// slowText tells how many reads were slow, and on a line each which ones they were.
func slowText(s status.SlowReads) string {
	if s.Count == 0 {
		return "none"
	}
	text := fmt.Sprintf("%s of more than %s", countText(s.Count), secondsText(s.Threshold))
	for _, r := range s.Last {
		text += fmt.Sprintf("\n  %s  %s  %s, %s at %d", r.Time.Local().Format(time.DateTime), secondsText(r.Seconds),
			printable(r.Path), bytesText(int64(r.Bytes)), r.Offset)
	}
	return text
}

func countText(n uint64) string { return humanize.Comma(int64(n)) }

// secondsText is a time with three digits.
func secondsText(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	unit := time.Duration(1)
	for d/unit >= 1000 && unit < time.Second {
		unit *= 10
	}
	return d.Round(unit).String()
}

// rounded is a number with one digit behind the point.
func rounded(x float64) float64 { return float64(int64(x*10+0.5)) / 10 }

// printable is a path that cannot do anything to a terminal.
func printable(path string) string {
	if strings.ContainsFunc(path, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(path)
	}
	return path
}
