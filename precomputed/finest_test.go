package precomputed

import (
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

// TestFinestScale: factors are those of the finest scale, wherever it is in the list, and even if it cannot be read.
func TestFinestScale(t *testing.T) {
	const scale = `{"key":"a","size":[8,8,8],"chunk_sizes":[[8,8,8]],"encoding":"raw","resolution":[16,16,40]},
		{"key":"b","size":[8,8,8],"chunk_sizes":[[8,8,8]],"encoding":"raw","resolution":[8,8,40]},
		{"key":"c","size":[8,8,8],"chunk_sizes":[[8,8,8]],"encoding":"other","resolution":[4,4,40]}`
	i, err := parseInfo([]byte(`{"data_type":"uint8","num_channels":1,"scales":[` + scale + `]}`))
	if err != nil {
		t.Fatal(err)
	}
	if len(i.scales) != 2 || i.scales[0].factor != (volume.Factor{4, 4, 1}) ||
		i.scales[1].factor != (volume.Factor{2, 2, 1}) {
		t.Errorf("got %+v", i.scales)
	}
}
