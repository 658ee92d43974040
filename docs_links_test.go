package wkwfs_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// documents returns the texts for users and developers, by their paths.
func documents(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md", "packaging/*/*.md"} {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			t.Fatal(pattern, err)
		}
		for _, path := range paths {
			all[path] = readText(t, path)
		}
	}
	return all
}

func readText(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestLinksOfDocuments checks that links to files lead to files, and those to headings to headings.
func TestLinksOfDocuments(t *testing.T) {
	comment := regexp.MustCompile(`(?s)<!--.*?-->`)
	link := regexp.MustCompile(`\]\(([^)\s]+)\)|src="([^"]+)"`)
	for path, text := range documents(t) {
		for _, m := range link.FindAllStringSubmatch(comment.ReplaceAllString(text, ""), -1) {
			target, heading, _ := strings.Cut(m[1]+m[2], "#")
			if strings.Contains(target, "://") {
				continue
			}
			file := path
			if target != "" {
				file = filepath.Join(filepath.Dir(path), target)
			}
			if _, err := os.Stat(file); err != nil {
				t.Errorf("%s: %v", path, err)
			} else if heading != "" && !slices.Contains(anchors(readText(t, file)), heading) {
				t.Errorf("%s: %s has no heading #%s", path, file, heading)
			}
		}
	}
}

// anchors returns the names by which links lead to the headings of a text in Markdown.
func anchors(text string) (names []string) {
	left := regexp.MustCompile(`[^\pL\pN _-]`)
	for _, heading := range matches(regexp.MustCompile(`(?m)^#+ (.*)$`), text) {
		names = append(names, strings.ReplaceAll(left.ReplaceAllString(strings.ToLower(heading), ""), " ", "-"))
	}
	return names
}

// otherFlags are flags of other programs in the documents for users.
var otherFlags = []string{"array", "parsable", "dependency", "cpus-per-task", "mem", "output",
	"help", "version", "privileged", "sparse", "cap-add", "cap-drop", "device", "mount", "name", "read-only", "rm",
	"security-opt", "user", "make-shared", "memory",
	"bind", "now", "tail", "install", "ignore-missing", "repo",
}

// TestCommandsInDocuments checks that the commands, flags, variables and make targets in the documents for users exist.
func TestCommandsInDocuments(t *testing.T) {
	program := filepath.Join(t.TempDir(), "wkwfs")
	run := func(name string, args ...string) string {
		output, err := exec.Command(name, args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, output)
		}
		return string(output)
	}
	run("go", "build", "-o", program, "./cmd/wkwfs")
	commands := matches(regexp.MustCompile(`(?m)^  ([a-z]+)  `), run(program, "--help"))
	flags := slices.Clone(otherFlags)
	for _, name := range commands {
		flags = append(flags, matches(regexp.MustCompile(`(?m)^ .*--([a-z-]+)`), run(program, name, "--help"))...)
	}
	variables := []string{"CONFIG", "TOKEN", "REFDATA", "REQUIRE_FUSE"}
	for _, name := range flags {
		variables = append(variables, strings.ToUpper(strings.ReplaceAll(name, "-", "_")))
	}
	targets := matches(regexp.MustCompile(`(?m)^## ([a-z-]+):`),
		readText(t, "Makefile")+readText(t, "packaging/packaging.mk"))
	for path, text := range documents(t) {
		if dir := filepath.Dir(path); dir == "." && path != "README.md" && path != "SECURITY.md" {
			continue // they name other programs' flags too
		}
		for _, code := range codeIn(text) {
			for what, c := range map[string]struct {
				pattern string
				known   []string
			}{
				"command":     {`(?:^|[$( ])wkwfs ([a-z]+)`, commands},
				"flag":        {`(?:^|[ (])--([a-z][a-z-]+)`, flags},
				"variable":    {`WKWFS_([A-Z_]+)`, variables},
				"make target": {`(?:^|[ ;])make ([a-z][a-z-]+)`, targets},
			} {
				for _, name := range matches(regexp.MustCompile(c.pattern), code) {
					if !slices.Contains(c.known, name) {
						t.Errorf("%s: there is no %s %s: %s", path, what, name, code)
					}
				}
			}
		}
	}
}

// TestCommandsOfFigures checks that the go test commands beside the figures name tests and benchmarks of their
// packages.
func TestCommandsOfFigures(t *testing.T) {
	command := regexp.MustCompile(`go test \./(\S+) (?:-run|-bench) ([\w.]+)`)
	figures := readText(t, "PERFORMANCE.md") + readText(t, "docs/performance-history.md")
	found := command.FindAllStringSubmatch(figures, -1)
	if len(found) < 5 {
		t.Errorf("%d commands", len(found))
	}
	for _, m := range found {
		paths, err := filepath.Glob(m[1] + "/*_test.go")
		if err != nil {
			t.Fatal(err)
		}
		var all strings.Builder
		for _, path := range paths {
			all.WriteString(readText(t, path))
		}
		if ok, err := regexp.MatchString(`(?m)^func (Test|Benchmark)\w*`+strings.Trim(m[2], "."),
			all.String()); err != nil || !ok {
			t.Errorf("%s: no such test, %v", m[0], err)
		}
	}
}

// codeIn returns the code of a text in Markdown: spans, and lines of blocks without comments.
func codeIn(text string) []string {
	all := matches(regexp.MustCompile("`([^`\n]+)`"), text)
	for _, line := range matches(regexp.MustCompile(`(?m)^    (.*)$`), text) {
		line, _, _ = strings.Cut(line, " # ")
		all = append(all, line)
	}
	return all
}

// matches returns the first group of all matches.
func matches(pattern *regexp.Regexp, text string) []string {
	var all []string
	for _, m := range pattern.FindAllStringSubmatch(text, -1) {
		all = append(all, m[1])
	}
	return all
}

// TestTroubleTexts checks that each text that docs/trouble.md quotes as a symptom is in the program, and that the
// status in docs/settings.md looks as the program prints it.
func TestTroubleTexts(t *testing.T) {
	var source strings.Builder
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".go" && (!strings.HasSuffix(path, "_test.go") ||
			path == "cmd/wkwfs/status_test.go") {
			source.WriteString(readText(t, path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	rows := matches(regexp.MustCompile(`(?m)^\| ([^|]*) \|`), readText(t, "docs/trouble.md"))
	if len(rows) < 15 {
		t.Errorf("%d rows", len(rows))
	}
	for _, row := range rows {
		for _, quoted := range matches(regexp.MustCompile("`([^`]+)`"), row) {
			if !strings.Contains(quoted, ".") && !strings.Contains(source.String(), quoted) {
				t.Errorf("docs/trouble.md: no Go file has the text %q", quoted)
			}
		}
	}
	_, sample, _ := strings.Cut(readText(t, "docs/settings.md"), "process 4242")
	sample, _, _ = strings.Cut(sample, "\n| ")
	for _, line := range matches(regexp.MustCompile(`(?m)^    (.+)$`), sample) {
		if !strings.Contains(source.String(), line) {
			t.Errorf("docs/settings.md: cmd/wkwfs/status_test.go does not have the line %q", line)
		}
	}
}
