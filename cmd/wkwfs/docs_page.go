//go:build docs

package main

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/pflag"
)

// page is a man page in the format of man(7).
type page struct {
	name    string // of its file, without the section
	section int
	text    *strings.Builder
}

// item is a term with its explanation.
type item struct{ term, text string }

// newPage returns a page with its heading.
func newPage(title string, section int, short, date string) page {
	p := page{strings.ReplaceAll(title, " ", "-"), section, &strings.Builder{}}
	p.line(fmt.Sprintf(`.TH "%s" "%d" "%s" "wkwfs %s" "wkwfs"`,
		escape(strings.ToUpper(p.name)), section, date, escape(releaseVersion)))
	p.heading("NAME")
	p.line(escape(p.name) + ` \- ` + escape(short))
	return p
}

func (p page) file() string { return fmt.Sprintf("%s.%d", p.name, p.section) }

func (p page) line(s string) { p.text.WriteString(s + "\n") }

func (p page) heading(s string) { p.line(".SH " + s) }

// escape escapes text for troff. A dash must not become a hyphen, which cannot be pasted into a
// shell. Characters beyond ASCII become numbers, because troff has no other encoding on its own.
func escape(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`).Replace(s)
	if strings.HasPrefix(s, ".") {
		s = `\&` + s
	}
	var b strings.Builder
	for _, r := range s {
		if r < utf8.RuneSelf {
			b.WriteRune(r)
			continue
		}
		fmt.Fprintf(&b, `\[u%04X]`, r)
	}
	return b.String()
}

// prose writes paragraphs. Indented paragraphs are written as they are. If text is empty, other is
// written.
func (p page) prose(text, other string) {
	if text == "" {
		text = other
	}
	for i, paragraph := range strings.Split(text, "\n\n") {
		if i > 0 {
			p.line(".PP")
		}
		if strings.HasPrefix(paragraph, "  ") {
			p.verbatim(paragraph)
			continue
		}
		for line := range strings.SplitSeq(paragraph, "\n") {
			p.line(escape(line))
		}
	}
}

// verbatim writes lines as they are.
func (p page) verbatim(text string) {
	p.line(".RS 4\n.nf")
	for line := range strings.SplitSeq(text, "\n") {
		p.line(escape(strings.TrimPrefix(line, "  ")))
	}
	p.line(".fi\n.RE")
}

func (p page) item(term, text string) {
	p.line(".TP\n.B " + escape(term))
	p.line(escape(text))
}

// items writes a section, unless it is empty.
func (p page) items(heading string, items []item) {
	if len(items) == 0 {
		return
	}
	p.heading(heading)
	for _, i := range items {
		p.item(i.term, i.text)
	}
}

// references writes the names of other pages.
func (p page) references(names []string) {
	for i, name := range names {
		title, section, _ := strings.Cut(name, "(")
		end := ","
		if i == len(names)-1 {
			end = ""
		}
		p.line(fmt.Sprintf(".BR %s (%s%s", escape(title), section, end))
	}
}

// options writes the flags with their defaults.
func (p page) options(flags *pflag.FlagSet) {
	flags.VisitAll(func(f *pflag.Flag) {
		value, usage := pflag.UnquoteUsage(f)
		term := "--" + f.Name
		if f.Shorthand != "" {
			term = "-" + f.Shorthand + ", " + term
		}
		switch {
		case value != "" && f.NoOptDefVal != "":
			term += "[=" + value + "]"
		case value != "":
			term += " " + value
		}
		p.item(term, sentence(usage+defaultOf(f)))
	})
}

// defaultOf returns the default of a flag as text.
func defaultOf(f *pflag.Flag) string {
	switch {
	case f.Name == "jobs": // the default depends on the machine
		return " (default: one for each processor)"
	case slices.Contains([]string{"", "0", "false", "[]"}, f.DefValue):
		return ""
	}
	return " (default " + f.DefValue + ")"
}

func sentence(s string) string { return strings.ToUpper(s[:1]) + s[1:] + "." }
