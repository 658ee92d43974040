package zarr

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// TestTransposeNames: drafts of version 3 name the orders of axes.
func TestTransposeNames(t *testing.T) {
	for order, want := range map[string][]int{`"F"`: {3, 2, 1, 0}, `"C"`: {0, 1, 2, 3}, `[0, 3, 2, 1]`: {0, 3, 2, 1}} {
		var o object
		text := `{"zarr_format": 3, "node_type": "array", "shape": [1, 9, 9, 9], "data_type": "uint32", "fill_value": 0,
			"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [1, 4, 4, 4]}}, "chunk_key_encoding": "default",
			"codecs": [{"name": "transpose", "configuration": {"order": ORDER}}, {"name": "bytes", "configuration": {"endian": "little"}}]}`
		if err := json.Unmarshal([]byte(strings.Replace(text, "ORDER", order, 1)), &o); err != nil {
			t.Fatal(err)
		}
		a, err := parseV3(o)
		if err != nil {
			t.Fatal(order, err)
		}
		if !slices.Equal(a.Order, want) {
			t.Errorf("%s: got %v, expected %v", order, a.Order, want)
		}
	}
}
