package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// report has all figures of a run. It is the format of the file of -json.
type report struct {
	Machine string    `json:"machine"`
	Jobs    []outcome `json:"jobs"`
}

// write writes the report as JSON.
func (r report) write(path string) error {
	b, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(b, '\n'), 0o666)
}

// readReport reads a file that write wrote.
func readReport(path string) (r report, err error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(b, &r); err != nil {
		return r, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// printTable prints a Markdown table with a row for each figure of each contender.
func printTable(w io.Writer, all []outcome) error {
	rows := [][]string{{"work", "contender", "median", "unit", "CPU s/GiB", "server MiB", "ratio", "wanted", "verdict"}}
	rows = append(rows, make([]string, len(rows[0])))
	for _, o := range all {
		for c := range o.Contenders {
			for f := range o.figures {
				rows = append(rows, o.row(c, f))
			}
		}
	}
	for i, row := range rows {
		for column := range row {
			width := 0
			for _, other := range rows {
				width = max(width, len([]rune(other[column])))
			}
			padding := map[bool]string{false: " ", true: "-"}[i == 1]
			row[column] += strings.Repeat(padding, width-len([]rune(row[column])))
		}
		if _, err := fmt.Fprintf(w, "| %s |\n", strings.Join(row, " | ")); err != nil {
			return err
		}
	}
	return nil
}

// row returns the row of one figure of one contender, compared with the first contender.
func (o outcome) row(i, f int) []string {
	c, fig := o.Contenders[i], o.figures[f]
	if c.Absent != "" {
		return []string{o.Work, c.Name, "not here: " + c.Absent, "", "", "", "", "", ""}
	}
	var perGiB []float64
	var peak int64
	for _, t := range c.Turns {
		if t.Bytes > 0 {
			perGiB = append(perGiB, t.CPU/(float64(t.Bytes)/(1<<30)))
		}
		peak = max(peak, t.Peak)
	}
	value := median(c.values(f))
	row := []string{o.Work, c.Name, number(value), fig.unit, number(median(perGiB)), number(float64(peak) / (1 << 20))}
	if i == 0 {
		return append(append(row, ""), fig.verdict("", value)...)
	}
	ratio := o.ratio(i, f)
	if ratio == 0 { // the first one is absent
		return append(row, "", "", "")
	}
	return append(append(row, number(ratio)+" ×"), fig.verdict(c.Name, ratio)...)
}

// verdict returns the bound against a contender, and whether the value meets it. Both are empty if there is no bound.
func (f figure) verdict(against string, value float64) []string {
	i := slices.IndexFunc(f.bounds, func(b bound) bool { return b.against == against })
	if i < 0 {
		return []string{"", ""}
	}
	b := f.bounds[i]
	met := value == b.limit || value < b.limit == b.maximum
	sign := map[bool]string{false: "≥ ", true: "≤ "}[b.maximum]
	return []string{sign + number(b.limit), map[bool]string{false: "missed", true: "met"}[met]}
}

// number formats a number with three digits, and 0 as "".
func number(x float64) string {
	switch {
	case x == 0:
		return ""
	case math.Abs(x) >= 1000:
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.3g", x)
}

// about returns the processor, the kernel, the versions of wkwfs and of the other file systems, the data and the
// skipped jobs.
func (b *bench) about(ctx context.Context) []string {
	var u unix.Utsname
	_ = unix.Uname(&u)                      // cannot fail
	info, _ := os.ReadFile("/proc/cpuinfo") // without it there is no model
	model := runtime.GOARCH
	if found := regexp.MustCompile(`model name\s*: (.*)`).FindSubmatch(info); found != nil {
		model = string(found[1])
	}
	parts := []string{fmt.Sprintf("%d × %s", runtime.NumCPU(), model), "Linux " + unix.ByteSliceToString(u.Release[:])}
	programs := [][]string{{b.program, "version"}, {"mksquashfs", "-version"}, {"squashfuse_ll", "-V"},
		{"dump.erofs", "-V"}}
	for _, args := range programs {
		parts = append(parts, version(ctx, args))
	}
	if b.before != "" {
		parts = append(parts, "before: "+version(ctx, []string{b.before, "version"}))
	}
	if parts = append(parts, b.notes...); b.skipped != nil {
		parts = append(parts, b.skipped.Error())
	}
	return parts
}

// version returns the first line of a program's output. It ignores the exit code, which differs between programs.
func version(ctx context.Context, args []string) string {
	output, _ := command(ctx, args...).CombinedOutput()
	line, _, _ := strings.Cut(strings.TrimSpace(string(output)), "\n")
	if line == "" {
		return "no " + args[0]
	}
	return line
}
