package settings

import (
	"errors"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/small/hint"
)

func TestCheckVariables(t *testing.T) {
	tests := []struct{ variable, want string }{
		{"WKWFS_CACHE_SISE", "WKWFS_CACHE_SIZE"},
		{"WKWFS_ALLOWOTHER", "WKWFS_ALLOW_OTHER"},
		{"WKWFS_CONFIGS", "WKWFS_CONFIG"},
		{"WKWFS_CACHE_SIZE", ""}, {"WKWFS_LISTEN", ""}, {"WKWFS_TOKEN", ""}, {"WKWFS_CONFIG", ""},
		{"WKWFS_READY_PIPE", ""},
		// Variables of tests, of a Kubernetes service named wkwfs, of other programs.
		{"WKWFS_RACE", ""}, {"WKWFS_REQUIRE_FUSE", ""}, {"WKWFS_REFDATA", ""}, {"WKWFS_SERVICE_HOST", ""},
		{"WKWFS_PORT", ""},
		{"XWKWFS_CACHE_SISE", ""}, {"WKWFS", ""}, {"WKWFS_", ""},
	}
	for _, test := range tests {
		err := checkVariables([]string{"A=B", test.variable + "=1"})
		var f *hint.Error
		switch {
		case test.want == "" && err != nil:
			t.Errorf("%s: %v", test.variable, err)
		case test.want != "" && (!errors.As(err, &f) || f.Hint != "did you mean "+test.want+"?"):
			t.Errorf("%s: got %v, want the hint %s", test.variable, err, test.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("cache-size: 4GiB\nallow-origin: [a, b]\nsources:\n  /a:\n    uid: 1\n"))
	f.Add([]byte("sources: {/a: &a {uid: 1}, /b: *a}"))
	f.Add([]byte("a: &a [*a]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := parse("c.yaml", text)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "c.yaml:") {
				t.Errorf("the error does not name the file: %v", err)
			}
			return
		}
		for _, e := range c.general {
			if e.line < 1 {
				t.Errorf("%s is on line %d", e.name, e.line)
			}
		}
	})
}
