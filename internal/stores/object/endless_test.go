package object

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"sync/atomic"
	"testing"
)

// inventing is a bucket that lists new names for ever, in any directory but the root.
type inventing struct {
	*memory
	name  string // of the n-th name, as a format
	given atomic.Int64
}

func (b *inventing) List(ctx context.Context, prefix, after, delimiter string) iter.Seq2[[]Object, error] {
	return func(yield func([]Object, error) bool) {
		for ctx.Err() == nil {
			page := make([]Object, maxKept)
			for i := range page {
				page[i] = Object{Key: strings.TrimSuffix("d/"+prefix[2:]+fmt.Sprintf(b.name, b.given.Add(1)), "!")}
			}
			if !yield(page, nil) {
				return
			}
		}
	}
}

// TestInventedNames: the listing of a store that lists new names for ever ends with an error that names the directory.
// So does one of names that are no paths, and one that is divided. One name less is no error.
func TestInventedNames(t *testing.T) {
	const most = 20 * maxKept
	for _, name := range []string{"a%09da", "%07d.wkw", "%d", "a//%d"} {
		b := &inventing{memory: newMemory(), name: name}
		f := NewFS(b, Options{})
		f.names = most
		entries, err := f.ReadDir("d")
		if err == nil || !strings.Contains(err.Error(), "d/: expected at most 20000 names in a directory, found ") {
			t.Errorf("%s: got %v", name, err)
		}
		if len(entries) > most+maxKept || b.given.Load() > most+(spanAhead+3)*maxKept*(maxSpans+1) {
			t.Errorf("%s: %d entries of %d names", name, len(entries), b.given.Load())
		}
	}
	m := numbered("x%d.wkw", most)
	m.takes = 0
	f := NewFS(m, Options{})
	f.names = most
	if entries, err := f.ReadDir("d"); err != nil || len(entries) != most {
		t.Errorf("%d entries, %v", len(entries), err)
	}
	f = NewFS(m, Options{})
	f.names = most - 1
	if entries, err := f.ReadDir("d"); err == nil {
		t.Errorf("%d entries without an error", len(entries))
	}
}
