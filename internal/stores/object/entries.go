package object

import (
	"cmp"
	"slices"
	"strings"
)

// entries are the entries of a directory, sorted by their paths. A map takes twice as much memory, and the time of a
// listing is mostly that of making it. Nothing changes entries after they were made.
type entries []fact

// newEntries returns facts about the names in a directory as entries. Of a name that is a file and a directory, the
// file counts. It takes over the memory of the facts. The result is not nil.
func newEntries(all []fact) entries {
	if all == nil {
		return entries{}
	}
	if !slices.IsSortedFunc(all, compareFacts) {
		slices.SortFunc(all, compareFacts)
	}
	return slices.CompactFunc(all, func(a, b fact) bool { return a.Key == b.Key })
}

// compareFacts orders by path. Files are before directories.
func compareFacts(a, b fact) int {
	return cmp.Or(strings.Compare(a.Key, b.Key), cmp.Compare(a.kind, b.kind))
}

// get returns what is known about a path. Names that are not there are absent.
func (e entries) get(name string) fact {
	i, ok := slices.BinarySearchFunc(e, name, func(f fact, name string) int { return strings.Compare(f.Key, name) })
	if !ok {
		return fact{}
	}
	return e[i]
}
