package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/dustin/go-humanize"
	"golang.org/x/term"

	"github.com/wkwfs/wkwfs/internal/serve/status"
	"github.com/wkwfs/wkwfs/internal/small/hint"
)

// statusScreen returns a function that prints a status: as text, or as JSON. When watching, text
// on a terminal replaces the text before it, and JSON takes one line for each status.
func statusScreen(out io.Writer, asJSON, watch bool) (show func(status.Status) error) {
	if asJSON {
		indent := "  "
		if watch {
			indent = ""
		}
		return func(s status.Status) error { return printJSON(out, s, indent) }
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

// redrawn is text on a terminal that replaces the text before it.
type redrawn struct {
	out   *os.File
	lines int // on the terminal now
}

func (r *redrawn) show(s status.Status) error {
	_, height, err := term.GetSize(int(r.out.Fd()))
	if err != nil {
		return err
	}
	_, err = io.WriteString(r.out, r.over(statusText(s), knownHeight(height)))
	return err
}

// usualHeight is the number of lines of a terminal that does not know its size.
const usualHeight = 24

// knownHeight returns the number of lines of a terminal. Terminals of some containers and of serial lines report 0.
func knownHeight(height int) int {
	if height <= 0 {
		return usualHeight
	}
	return height
}

// Control sequences of ECMA-48, which all terminals have.
const (
	lineUp     = "\x1b[%dA"
	clearLine  = "\x1b[K"
	clearBelow = "\x1b[J"
	noWrap     = "\x1b[?7l"
	wrap       = "\x1b[?7h"
)

// over returns what to write to replace the last text. The terminal cuts long lines, and lines
// beyond its height are left out: otherwise the number of lines to go up would be unknown.
func (r *redrawn) over(text string, height int) string {
	var b strings.Builder
	b.WriteString(noWrap)
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
	b.WriteString(clearBelow + wrap)
	return b.String()
}

// statusText formats a status.
func statusText(s status.Status) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s shows %s\nup %s, wkwfs %s, process %d: %s, %d goroutines\n\n",
		hint.Escape(s.Mountpoint), hint.Escape(s.Source), secondsText(s.Uptime), s.Version, s.PID,
		bytesText(int64(s.Process.MemoryBytes)), s.Process.Goroutines)
	table := tabwriter.NewWriter(&b, 12, 0, 2, ' ', 0)
	fmt.Fprintf(table, "\tSINCE START\tLAST %.2g S\n", s.Now.Seconds)
	fmt.Fprintf(table, "reads\t%s\t%s/s\n", countText(s.Reads.Count), humanize.Ftoa(rounded(s.Now.ReadsPerSecond)))
	fmt.Fprintf(table, "bytes\t%s\t%s/s\n", bytesText(int64(s.Reads.Bytes)), bytesText(int64(s.Now.BytesPerSecond)))
	fmt.Fprintf(table, "p50\t%s\t%s\n", secondsText(s.Reads.P50), secondsText(s.Now.P50))
	fmt.Fprintf(table, "p99\t%s\t%s\n", secondsText(s.Reads.P99), secondsText(s.Now.P99))
	_ = table.Flush() // writing to a buffer cannot fail
	fmt.Fprintf(&b, "\ncache       %s of %s, %.1f %% hits, %s blocks decoded (%s), %s dropped\n",
		bytesText(s.Cache.HeldBytes), bytesText(s.Cache.BudgetBytes), 100*s.Cache.HitRate,
		countText(s.Cache.Decoded), bytesText(int64(s.Cache.DecodedBytes)), countText(s.Cache.Dropped))
	b.WriteString(sourceText(s.SourceIO))
	b.WriteString(diskCacheText(s.DiskCache))
	fmt.Fprintf(&b, "errors      %s\n", errorsText(s.Errors))
	if s.Panics > 0 {
		fmt.Fprintf(&b, "panics      %s: faults of wkwfs. Please report the stacks in the log\n", countText(s.Panics))
	}
	if s.Log.To != "" { // not from a server of an older version
		fmt.Fprintf(&b, "log         %s\n", hint.Escape(logPlace(s.Log).String()))
	}
	fmt.Fprintf(&b, "slow reads  %s\n", slowText(s.SlowReads))
	return b.String()
}

// sourceText formats in two or three lines how the source answers.
func sourceText(s status.SourceIO) string {
	text := fmt.Sprintf("source      %s reads (%s), %s lookups, %d in flight (at most %d)",
		countText(s.Reads), bytesText(int64(s.ReadBytes)), countText(s.Lookups), s.InFlight, s.MostInFlight)
	if s.LongestWait >= longWait {
		text += ", the oldest for " + secondsText(s.LongestWait)
	}
	if s.Late {
		text += "; it answers late"
	}
	if s.Requests > 0 {
		text += fmt.Sprintf("\n            %s requests over the network, %s of them repeated", countText(s.Requests),
			countText(s.Repeated))
	}
	return text + fmt.Sprintf("\n            reads p50 %s, p99 %s; lookups p50 %s, p99 %s\n",
		secondsText(s.ReadLatency.P50), secondsText(s.ReadLatency.P99), secondsText(s.LookupLatency.P50),
		secondsText(s.LookupLatency.P99))
}

// diskCacheText formats in two lines what a disk cache does. It returns "" if there is none.
func diskCacheText(d status.DiskCache) string {
	if d.Dir == "" {
		return ""
	}
	text := fmt.Sprintf(
		"disk cache  %s of %s in %s, %s hits (%s), %s misses (%s), %s shared\n            %s stored, %s not stored, %s evicted",
		bytesText(d.UsedBytes), bytesText(d.SizeBytes), hint.Escape(d.Dir), countText(d.Hits),
		bytesText(int64(d.HitBytes)),
		countText(d.Misses), bytesText(int64(d.FetchedBytes)), countText(d.Shared),
		bytesText(int64(d.WrittenBytes)), bytesText(int64(d.DroppedBytes)), bytesText(int64(d.EvictedBytes)))
	if d.Damaged > 0 {
		text += fmt.Sprintf(", %s damaged pages read again", countText(d.Damaged))
	}
	return text + "\n"
}

// longWait is the wait, in seconds, from which the oldest request is shown.
const longWait = 1

// errorsText lists the kinds of errors that occurred.
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

// slowText formats the number of slow reads, and a line for each of the last.
func slowText(s status.SlowReads) string {
	if s.Count == 0 {
		return "none"
	}
	text := fmt.Sprintf("%s of more than %s", countText(s.Count), secondsText(s.Threshold))
	for _, r := range s.Last {
		text += fmt.Sprintf("\n  %s  %s  %s, %s at %d", r.Time.Local().Format(time.DateTime), secondsText(r.Seconds),
			hint.Escape(r.Path), bytesText(int64(r.Bytes)), r.Offset)
	}
	return text
}

func countText(n uint64) string { return humanize.Comma(int64(n)) }

// secondsText formats a time with three digits.
func secondsText(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	unit := time.Duration(1)
	for d/unit >= 1000 && unit < time.Second {
		unit *= 10
	}
	return d.Round(unit).String()
}

// rounded rounds to one digit after the point.
func rounded(x float64) float64 { return float64(int64(x*10+0.5)) / 10 }
