package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// printTable prints a row for each figure of each contender, as Markdown.
func printTable(w io.Writer, all []outcome) error {
	var rows [][]string
	for _, o := range all {
		for c := range o.contenders {
			for f := range o.figures {
				rows = append(rows, o.row(c, f))
			}
		}
	}
	return printColumns(w, append([][]string{{"work", "contender", "median", "best", "unit", "CPU s/GiB", "server MiB", "ratio", "wanted", "verdict"}}, rows...))
}

// row describes one figure of one contender, with the ratio of the first contender to it.
// The row has no figures where the contender has none.
func (o outcome) row(c, f int) []string {
	fig := o.figures[f]
	start := []string{o.name, o.contenders[c].name}
	if why := o.contenders[c].absent; why != "" {
		return append(start, "not here: "+why, "", "", "", "", "", "", "")
	}
	values := o.values(c, f)
	if median(values) == 0 {
		return append(start, "", "", fig.unit, "", "", "", "", "")
	}
	row := append(start, number(median(values)), number(fig.best(values)), fig.unit, o.cpu(c), o.peak(c))
	if c == 0 {
		wanted, verdict := fig.judge("", median(values))
		return append(row, "", wanted, verdict)
	}
	found, unit := o.beside(c, f)
	wanted, verdict := fig.judge(o.contenders[c].name, found)
	return append(row, number(found)+" "+unit, wanted, verdict)
}

// judge says what is wanted of a figure, or of what it is beside that of a contender, and
// whether it is so.
func (f figure) judge(against string, found float64) (wanted, verdict string) {
	b, ok := f.bound(against)
	if !ok {
		return "", ""
	}
	wanted = map[bool]string{false: "≥ ", true: "≤ "}[b.most] + number(b.limit)
	verdict = map[bool]string{false: "missed", true: "met"}[b.met(found)]
	return wanted, verdict
}

func (b bound) met(found float64) bool {
	if b.most {
		return found <= b.limit
	}
	return found >= b.limit
}

// best is the largest rate, or the smallest of what else there is.
func (f figure) best(values []float64) float64 {
	if strings.HasSuffix(f.unit, "/s") {
		return slices.Max(values)
	}
	return slices.Min(values)
}

// cpu is the median of the CPU seconds that a contender took for a GiB.
func (o outcome) cpu(c int) string {
	var all []float64
	for _, t := range o.turns[c] {
		if t.bytes > 0 {
			all = append(all, t.cpu/(float64(t.bytes)/(1<<30)))
		}
	}
	if len(all) == 0 {
		return ""
	}
	return number(median(all))
}

// peak is the most memory that a server ever had.
func (o outcome) peak(c int) string {
	var most int64
	for _, t := range o.turns[c] {
		most = max(most, t.peak)
	}
	if most == 0 {
		return ""
	}
	return number(float64(most) / (1 << 20))
}

// number shows three digits.
func number(x float64) string {
	switch {
	case x == 0:
		return "0"
	case math.Abs(x) >= 1000:
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.3g", x)
}

// printColumns prints rows as a Markdown table whose columns are aligned. The first row
// is the heading.
func printColumns(w io.Writer, rows [][]string) error {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], len([]rune(cell)))
		}
	}
	line := make([]string, len(widths))
	for i, n := range widths {
		line[i] = strings.Repeat("-", n)
	}
	for _, row := range slices.Insert(slices.Clone(rows), 1, line) {
		for i, cell := range row {
			row[i] = cell + strings.Repeat(" ", widths[i]-len([]rune(cell)))
		}
		if _, err := fmt.Fprintf(w, "| %s |\n", strings.Join(row, " | ")); err != nil {
			return err
		}
	}
	return nil
}
