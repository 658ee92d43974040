package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// printTable prints a Markdown table with a row for each figure of each contender.
func printTable(w io.Writer, outcomes []outcome) error {
	var rows [][]string
	for _, o := range outcomes {
		for c := range o.contenders {
			for f := range o.figures {
				rows = append(rows, o.row(c, f))
			}
		}
	}
	return printColumns(w, append([][]string{{"work", "contender", "median", "best", "unit", "CPU s/GiB", "server MiB", "ratio", "wanted", "verdict"}}, rows...))
}

// row returns the row of one figure of one contender, compared with the first contender. If the contender does
// not have the figure, the cells are empty.
func (o outcome) row(c, f int) []string {
	fig := o.figures[f]
	start := []string{o.name, o.contenders[c].name}
	if reason := o.contenders[c].absent; reason != "" {
		return append(start, "not here: "+reason, "", "", "", "", "", "", "")
	}
	values := o.values(c, f)
	if median(values) == 0 {
		return append(start, "", "", fig.unit, "", "", "", "", "")
	}
	row := append(start, number(median(values)), number(fig.best(values)), fig.unit, o.cpu(c), o.peak(c))
	if c == 0 {
		wanted, verdict := fig.verdict("", median(values))
		return append(row, "", wanted, verdict)
	}
	if len(o.turns[0]) == 0 {
		return append(row, "", "", "")
	}
	value, unit := o.comparison(c, f)
	wanted, verdict := fig.verdict(o.contenders[c].name, value)
	return append(row, number(value)+" "+unit, wanted, verdict)
}

// verdict returns the bound of a figure against a contender, and whether the value meets it. Both are empty if
// there is no bound.
func (f figure) verdict(against string, value float64) (wanted, verdict string) {
	b, ok := f.bound(against)
	if !ok {
		return "", ""
	}
	wanted = map[bool]string{false: "≥ ", true: "≤ "}[b.maximum] + number(b.limit)
	verdict = map[bool]string{false: "missed", true: "met"}[b.met(value)]
	return wanted, verdict
}

func (b bound) met(value float64) bool {
	if b.maximum {
		return value <= b.limit
	}
	return value >= b.limit
}

// best returns the largest value of a rate, and the smallest value of any other figure.
func (f figure) best(values []float64) float64 {
	if strings.HasSuffix(f.unit, "/s") {
		return slices.Max(values)
	}
	return slices.Min(values)
}

// cpu returns the median of a contender's CPU seconds per GiB.
func (o outcome) cpu(c int) string {
	var values []float64
	for _, t := range o.turns[c] {
		if t.bytes > 0 {
			values = append(values, t.cpu/(float64(t.bytes)/(1<<30)))
		}
	}
	if len(values) == 0 {
		return ""
	}
	return number(median(values))
}

// peak returns the largest resident memory of a contender's server in MiB.
func (o outcome) peak(c int) string {
	var largest int64
	for _, t := range o.turns[c] {
		largest = max(largest, t.peak)
	}
	if largest == 0 {
		return ""
	}
	return number(float64(largest) / (1 << 20))
}

// number formats a number with three digits.
func number(x float64) string {
	switch {
	case x == 0:
		return "0"
	case math.Abs(x) >= 1000:
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.3g", x)
}

// printColumns prints rows as a Markdown table with aligned columns. The first row is the heading.
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
