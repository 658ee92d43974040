package pyramid

import "testing"

// TestChunkSize: chunks hold several of the longest runs, if there is memory for that.
func TestChunkSize(t *testing.T) {
	for _, test := range []struct {
		name    string
		longest int64
		memory  int64
		jobs    int
		want    int64
	}{
		{"short runs", 1000, 1 << 30, 2, minChunk},
		{"a run of half a chunk and more", 1_060_000, 1 << 30, 2, 4 * 1_060_000},
		{"long runs", 5 << 20, 1 << 30, 2, 20 << 20},
		{"many workers", 5 << 20, 1 << 30, 16, 8 << 20},
		{"more workers", 5 << 20, 1 << 30, 64, 5 << 20},
		{"little memory", 5 << 20, 1, 2, 5 << 20},
		{"most that a run has", maxChunk, 1 << 60, 2, maxChunk},
	} {
		w := &writer{layer: Layer{Memory: test.memory, Jobs: test.jobs}}
		if got := w.chunkSize(test.longest); got != test.want {
			t.Errorf("%s: got %d, want %d", test.name, got, test.want)
		}
	}
}
