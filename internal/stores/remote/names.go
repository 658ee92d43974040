package remote

import (
	"bytes"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/wkwfs/wkwfs/internal/stores/object"
)

const (
	// maxNames is how many names the index of a directory may have, and maxNamesText how many bytes they may have
	// together.
	maxNames, maxNamesText = 1 << 18, 8 << 20
)

// names are the names in the index of a directory, in little memory: a server lists a directory in one answer. Those of
// directories end with "/". The zero value has none.
type names struct {
	text  []byte
	spans []nameSpan
}

type nameSpan struct{ start, end uint32 }

func (n *names) name(s nameSpan) []byte { return n.text[s.start:s.end] }

// add adds a name, unless it cannot be one.
func (n *names) add(name string) error {
	plain := strings.TrimSuffix(name, "/")
	if plain == "" || plain == "." || plain == ".." || strings.ContainsAny(plain, "/\x00") {
		return nil
	}
	if len(n.spans) == maxNames || len(n.text)+len(name) > maxNamesText {
		return fmt.Errorf("expected an index of at most %d names with %d bytes, found more", maxNames, maxNamesText)
	}
	start := uint32(len(n.text))
	n.text = append(n.text, name...)
	n.spans = append(n.spans, nameSpan{start, uint32(len(n.text))})
	return nil
}

// sort sorts the names. Of names that are there twice, as a file or a directory, the first one stays.
func (n *names) sort() {
	plain := func(s nameSpan) []byte { return bytes.TrimSuffix(n.name(s), []byte("/")) }
	slices.SortStableFunc(n.spans, func(a, b nameSpan) int { return bytes.Compare(plain(a), plain(b)) })
	n.spans = slices.CompactFunc(n.spans, func(a, b nameSpan) bool { return bytes.Equal(plain(a), plain(b)) })
	slices.SortFunc(n.spans, func(a, b nameSpan) int { return bytes.Compare(n.name(a), n.name(b)) })
}

// objects yields the names as objects with a prefix, as many at a time as an answer of a store has. Sizes of files are
// not known.
func (n *names) objects(prefix, after string) iter.Seq[[]object.Object] {
	return func(yield func([]object.Object) bool) {
		for spans := range slices.Chunk(n.spans, maxListed) {
			found := make([]object.Object, 0, len(spans))
			for _, s := range spans {
				o := object.Object{Key: prefix + string(n.name(s)), Size: -1}
				if strings.HasSuffix(o.Key, "/") {
					o.Size = 0
				}
				if o.Key > after {
					found = append(found, o)
				}
			}
			if len(found) > 0 && !yield(found) {
				return
			}
		}
	}
}
