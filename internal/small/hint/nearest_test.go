package hint

import "testing"

func TestNearest(t *testing.T) {
	candidates := []string{"allow_other", "cache_size", "ro", "noatime", "relatime", "mount", "umount", "2"}
	tests := []struct{ word, want string }{
		{"alow_other", "allow_other"},
		{"allow-other", "allow_other"},
		{"cachesize", "cache_size"},
		{"cache_sise", "cache_size"},
		{"monut", "mount"},
		{"unmount", "umount"},
		{"rx", "ro"},
		{"foo", ""},
		{"zz", ""},
		{"x", ""},
		{"", ""},
		{"completely_different", ""},
	}
	for _, test := range tests {
		if got := Nearest(test.word, candidates); got != test.want {
			t.Errorf("Nearest(%q) = %q, want %q", test.word, got, test.want)
		}
	}
}

func TestDistance(t *testing.T) {
	tests := []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"a", "", 1}, {"", "abc", 3}, {"abc", "abc", 0},
		{"kitten", "sitting", 3}, {"flaw", "lawn", 2}, {"ab", "ba", 2},
	}
	for _, test := range tests {
		if got := distance(test.a, test.b); got != test.want {
			t.Errorf("distance(%q, %q) = %d, want %d", test.a, test.b, got, test.want)
		}
		if got := distance(test.b, test.a); got != test.want {
			t.Errorf("distance(%q, %q) = %d, want %d", test.b, test.a, got, test.want)
		}
	}
}
