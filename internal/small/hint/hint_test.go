package hint_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/wkwfs/wkwfs/internal/small/hint"
)

func TestQuote(t *testing.T) {
	for word, want := range map[string]string{
		"/tmp/a.flat": "/tmp/a.flat",
		"a b":         "'a b'",
		"it's":        `'it'\''s'`,
		"-x":          "'-x'",
		"":            "''",
		"$HOME":       "'$HOME'",
	} {
		if got := hint.Quote(word); got != want {
			t.Errorf("%q: got %s, want %s", word, got, want)
		}
	}
}

func TestList(t *testing.T) {
	for want, names := range map[string][]string{
		"":                         nil,
		"a":                        {"a"},
		"a, b, c, d, e":            {"a", "b", "c", "d", "e"},
		"a, b, c, d, e and 2 more": {"a", "b", "c", "d", "e", "f", "g"},
	} {
		if got := hint.List(names); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestErrorf(t *testing.T) {
	err := hint.Errorf("mend it", "it broke: %w", syscall.EIO)
	var found *hint.Error
	if !errors.Is(err, syscall.EIO) || !errors.As(fmt.Errorf("around: %w", err), &found) {
		t.Fatalf("%v hides its cause or its hint", err)
	}
	if found.Error() != "it broke: input/output error" || found.Hint != "mend it" || found.Usage {
		t.Errorf("got %q, hint %q, usage %v", found, found.Hint, found.Usage)
	}
	if !errors.As(hint.Usagef("", "what?"), &found) || !found.Usage {
		t.Error("Usagef does not blame the command line")
	}
}

func TestEscape(t *testing.T) {
	for text, want := range map[string]string{
		"a\nb\r\tc":         `a\nb\r\tc`,
		"µm, 8 × 8":         "µm, 8 × 8",
		"\x1b[31mred\a\x7f": `\x1b[31mred\a\x7f`,
		"\u009b31m":         `\u009b31m`, // the same in one character
		"a\u202egnp.exe":    `a\u202egnp.exe`,
		"\u2066x\u2069":     `\u2066x\u2069`,
		"a\u200bb\ufeff":    `a\u200bb\ufeff`,
		"\u2028\U000e0041":  `\u2028\U000e0041`,
		"a\u3164\u034f":     `a\u3164\u034f`, // letters and marks of no width
		"\x80\xff":          `\x80\xff`,
		"\ufffd":            "\ufffd",
		"日本\u3000語 ע é 👁️":  "日本\u3000語 ע é 👁️",
	} {
		if got := hint.Escape(text); got != want {
			t.Errorf("Escape(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestEscapeLines(t *testing.T) {
	if got := hint.EscapeLines("a\n\tb\u202e\r"); got != "a\n\tb\\u202e\\r" {
		t.Errorf("got %q", got)
	}
}

// TestEscapeJSON: the escaped JSON has the same values, and nothing that Escape would change.
func TestEscapeJSON(t *testing.T) {
	for _, text := range []string{"plain é", "a\u202e\u009b\u2028b", "\U000e0041\u3164", "\x00\x7f\n\t"} {
		b, err := json.MarshalIndent(map[string]string{text: text}, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		escaped := hint.EscapeJSON(b)
		var got map[string]string
		if err := json.Unmarshal(escaped, &got); err != nil || got[text] != text {
			t.Errorf("%q: got %q, %v", text, got, err)
		}
		if flat := strings.ReplaceAll(string(escaped), "\n", ""); hint.Escape(flat) != flat {
			t.Errorf("%q: got %q", text, escaped)
		}
	}
}

func TestOneLine(t *testing.T) {
	for text, want := range map[string]string{
		"a\nb\r\nc":         "a; b; c",
		"a\n\x1b[31mb\tc\n": `a; \x1b[31mb c`,
	} {
		if got := hint.OneLine(text); got != want {
			t.Errorf("OneLine(%q) = %q, want %q", text, got, want)
		}
	}
}
