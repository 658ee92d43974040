package integration

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/integration/torture"
)

// settingsTrial reads configuration files that say anything. They are refused, or what is printed is a configuration
// file that gives the same settings.
var settingsTrial = torture.New("settings", newSettingsCase, runSettings)

type settingsCase struct {
	Lines []string `json:"lines"`
}

func newSettingsCase(r *rand.Rand) settingsCase {
	usual := map[string][]string{
		"cache-size":  {"4GiB", "0", "512MiB", "1e3", "-1", "99999999999GiB", "9223372036854775808"},
		"allow-other": {"true", "false", "yes", "1", "null", "~"}, "read-ahead": {"0", "64", "-1", "4294967296"},
		"io-depth": {"64", "0", "1", "99999999"}, "umask": {"027", "0", "888", "777777777", "0x10"},
		"uid": {"0", "1000", "-1", "4294967295", "4294967296"}, "log-file": {"/dev/null", "''", "relative"},
		"log-format": {"text", "json", "xml"}, "debug": {"true", "no"}, "metrics": {"unix:/tmp/x", "127.0.0.1:0",
			"0.0.0.0:1", "x"}, "follow-links": {"true", "[true]"}, "gid": {"5"},
		"disk-cache": {"/tmp/x", "auto", "relative", "''"}, "disk-cache-size": {"50GiB", "0", "-1"},
		"disk-cache-min-free": {"5%", "100%", "1GiB", "%"},
	}
	tricks := []string{"a: &a [*a]", "x: &x {y: *x}", "<<: *none", "- 1", "? {a: b}", "---", "...", "\t",
		"cache-size: !!binary AAAA", "cache-size: !!float 4GiB", "sources: {/data: {cache-size: 1}}", "sources:",
		"  /data:", "    uid: 7", "{", "\"", "a: |", "%YAML 9.9", "\x00", "\ufeff"}
	var c settingsCase
	for range 1 + r.IntN(8) {
		name := randomOf(r, sortedSettings(usual))
		line := name + ": " + randomOf(r, usual[name])
		switch r.IntN(24) {
		case 0:
			line = randomOf(r, tricks)
		case 1:
			line = name + ": " + randomOf(r, hostileStrings)
		case 2:
			line = name + ": " + strings.Repeat("[", r.IntN(20_000))
		case 3:
			line = strings.Repeat(" ", r.IntN(6)) + line
		}
		c.Lines = append(c.Lines, line)
	}
	if r.IntN(10) == 0 { // each alias stands for nine of the one before
		c.Lines = []string{"a0: &a0 [x,x,x,x,x,x,x,x,x]"}
		for n := range 9 {
			c.Lines = append(c.Lines, fmt.Sprintf("a%d: &a%d [%s*a%d]", n+1, n+1,
				strings.Repeat(fmt.Sprintf("*a%d,", n), 8), n))
		}
		c.Lines = append(c.Lines, "cache-size: *a9")
	}
	return c
}

func sortedSettings(m map[string][]string) []string {
	named := map[string]any{}
	for name := range m {
		named[name] = nil
	}
	return sortedNames(named)
}

func runSettings(t testing.TB, c settingsCase) {
	dir := tempDir(t)
	config := writeFile(t, filepath.Join(dir, "config.yaml"), []byte(strings.Join(c.Lines, "\n")))
	first := runLimited(t, "mount", "--config", config, "--print-config", dir)
	if first.code != 0 {
		return
	}
	again := writeFile(t, filepath.Join(dir, "printed.yaml"), []byte(first.stdout))
	second := runLimited(t, "mount", "--config", again, "--print-config", dir)
	if second.code != 0 {
		t.Fatalf("what was printed is no configuration: %s\n%s", second.stderr, first.stdout)
	}
	if got, want := settingsOf(second.stdout), settingsOf(first.stdout); got != want {
		t.Errorf("the printed settings give others:\n%s\nwant:\n%s", got, want)
	}
}

// settingsOf returns settings without the comments that say where each comes from.
func settingsOf(printed string) string {
	var all []string
	for line := range strings.Lines(printed) {
		setting, _, _ := strings.Cut(line, " #")
		all = append(all, strings.TrimSpace(setting))
	}
	return strings.Join(all, "\n")
}
