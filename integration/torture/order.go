package torture

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
)

// sortedKeys returns the keys of a map in an order that is always the same.
func sortedKeys(m reflect.Value) []reflect.Value {
	keys := m.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int {
		return cmp.Compare(fmt.Sprint(a.Interface()), fmt.Sprint(b.Interface()))
	})
	return keys
}
