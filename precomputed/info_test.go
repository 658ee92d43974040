package precomputed

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

// goodInfo is a valid info file. Tests change parts of it.
const goodInfo = `{"@type":"neuroglancer_multiscale_volume","type":"image","data_type":"uint8","num_channels":1,"scales":[` +
	`{"key":"8_8_30","size":[20,17,9],"voxel_offset":[-3,0,5],"chunk_sizes":[[8,8,4]],"resolution":[8,8,30],"encoding":"raw"},` +
	`{"key":"16_16_30","size":[10,9,9],"voxel_offset":[-2,0,5],"chunk_sizes":[[8,8,4]],"resolution":[16,16,30],"encoding":"raw"}]}`

const goodSharding = `"sharding":{"@type":"neuroglancer_uint64_sharded_v1","preshift_bits":1,"hash":"identity","minishard_bits":1,"shard_bits":2}`

// changed returns goodInfo with the first old replaced by new.
func changed(t testing.TB, old, new string) string {
	t.Helper()
	if !strings.Contains(goodInfo, old) {
		t.Fatalf("no %q in the info", old)
	}
	return strings.Replace(goodInfo, old, new, 1)
}

func TestParseInfo(t *testing.T) {
	i, err := parseInfo([]byte(goodInfo))
	if err != nil || len(i.scales) != 2 || len(i.omitted) != 0 || i.category != "color" {
		t.Fatalf("got %+v, %v", i, err)
	}
	s := i.scales[1]
	want := volume.Grid{
		Size: volume.Vec{8, 8, 4}, Block: volume.Vec{8, 8, 4}, Type: volume.Uint8, Channels: 1,
		Origin: volume.Vec{-2, 0, 5}, Spacing: [3]float64{16, 16, 30},
	}
	if s.grid() != want || s.factor != (volume.Factor{2, 2, 1}) || s.bounds.Max != (volume.Vec{8, 9, 14}) ||
		s.lattice.Size != (volume.Vec{2, 2, 3}) {
		t.Errorf("got %+v", s)
	}
}

// TestInfoForms: forms of the same info that other writers use.
func TestInfoForms(t *testing.T) {
	for _, c := range []struct{ old, new string }{
		{`"@type":"neuroglancer_multiscale_volume",`, ``},
		{`"image"`, `"IMAGE"`},
		{`"uint8"`, `"UINT8"`},
		{`"raw"`, `"RAW"`},
		{`[20,17,9]`, `[20.0,1.7e1,9]`},
		{`"voxel_offset":[-3,0,5]`, `"voxel_offset":[-3.0,0,5],"sharding":null,"jpeg_quality":[1]`},
		{`[[8,8,4]]`, `[[8,8,4],[1,1,1]]`},
		{`[[8,8,4]]`, `[[0,8,4],[8,8,4]]`},
		{`[[8,8,4]]`, `[[1048576,1048576,1048576],[8,8,4]]`},
	} {
		i, err := parseInfo([]byte(changed(t, c.old, c.new)))
		if err != nil || len(i.omitted) > 0 {
			t.Errorf("%s: %v, %v", c.new, i, err)
			continue
		}
		s := i.scales[0]
		if s.bounds.Size() != (volume.Vec{20, 17, 9}) || s.bounds.Min != (volume.Vec{-3, 0, 5}) ||
			s.chunk != (volume.Vec{8, 8, 4}) ||
			s.dataType != volume.Uint8 || s.encoding.name != "raw" || s.sharding != nil || i.category != "color" {
			t.Errorf("%s: got %+v", c.new, s)
		}
	}
}

// TestInfoErrors: an error in one scale does not affect the other.
func TestInfoErrors(t *testing.T) {
	sharded := func(old, new string) string { return strings.Replace(goodSharding, old, new, 1) + `,"encoding"` }
	for _, c := range []struct{ old, new, want string }{
		{`"key":"8_8_30"`, `"key":""`, "key: expected"},
		{`"key":"8_8_30"`, `"no":1`, "key: expected"},
		{`"key":"8_8_30"`, `"key":7`, "key: json"},
		{`"key":"8_8_30"`, `"key":"../.."`, "is not the name of a directory"},
		{`"key":"8_8_30"`, `"key":"a\u0000"`, "is not the name of a directory"},
		{`[20,17,9]`, `[20,17]`, "size: expected 3 numbers, found [20,17]"},
		{`[20,17,9]`, `[20,17,0]`, "size: expected 1 or more on each axis, found 20,17,0"},
		{`[20,17,9]`, `[20,17,-9]`, "size: expected 1 or more"},
		{`[20,17,9]`, `[20,17,9.5]`, "size: expected a whole number up to 2^40, found 9.5"},
		{`[20,17,9]`, `[20,17,1e300]`, "size: expected a whole number"},
		{`[20,17,9]`, `[20,17,9223372036854775807]`, "size: expected a whole number"},
		{`[20,17,9]`, `[20,17,"9"]`, `size: expected a whole number up to 2^40, found "9"`},
		{`[20,17,9]`, `[1099511627776,1099511627776,1099511627776]`, "chunk_sizes: grid of"},
		{`"size":[20,17,9],`, ``, "size: expected 1 or more"},
		{`[-3,0,5]`, `[1e13,0,5]`, "voxel_offset: expected a whole number"},
		{`[[8,8,4]]`, `[]`, "chunk_sizes: the list is empty"},
		{`[[8,8,4]]`, `[[8,8,0]]`, "chunk_sizes: grid of"},
		{`[[8,8,4]]`, `[8,8,4]`, "chunk_sizes: "},
		{`[[8,8,4]]`, `[[1024,1024,1025]]`, "chunk_sizes: expected chunks of at most 1073741824 bytes"},
		{`[[8,8,4]]`, `[[1099511627776,1099511627776,1099511627776]]`, "2^63"},
		{`[8,8,30]`, `[8,8]`, "resolution: expected 3 numbers above 0"},
		{`[8,8,30]`, `[8,8,0]`, "resolution: expected 3 numbers above 0"},
		{`[8,8,30]`, `[8,8,-30]`, "resolution: expected 3 numbers above 0"},
		{`"encoding":"raw"`, `"encoding":"zfp"`, `encoding: unknown: "zfp"`},
		{`"encoding":"raw"`, `"no":1`, `encoding: unknown: ""`},
		{`"encoding":"raw"`, `"encoding":"compressed_segmentation"`,
			"encoding: compressed_segmentation cannot hold 1 × uint8"},
		{`"encoding"`, `"sharding":7,"encoding"`, "sharding: expected an object, found 7"},
		{`"encoding"`, `"sharding":{},"encoding"`,
			`sharding: @type: expected neuroglancer_uint64_sharded_v1, found ""`},
		{`"encoding"`, sharded("identity", "md5"),
			`sharding: hash: expected identity or murmurhash3_x86_128, found "md5"`},
		{`"encoding"`, sharded(`"preshift_bits":1`, `"preshift_bits":65`),
			"sharding: preshift_bits: expected 0 to 64, found 65"},
		{`"encoding"`, sharded(`"minishard_bits":1`, `"minishard_bits":-1`),
			"sharding: minishard_bits: expected 0 to 24, found -1"},
		{`"encoding"`, sharded(`"shard_bits":2`, `"shard_bits":64`),
			"sharding: shard_bits: expected 0 to 63, found 64"},
		{`"encoding"`, sharded(`"hash"`, `"data_encoding":"zstd","hash"`),
			"sharding: data_encoding: expected raw or gzip"},
		{`"encoding"`, sharded(`"hash"`, `"minishard_index_encoding":"br","hash"`),
			"sharding: minishard_index_encoding: expected raw or gzip"},
	} {
		i, err := parseInfo([]byte(changed(t, c.old, c.new)))
		if err != nil || len(i.scales) != 1 || len(i.omitted) != 1 || i.scales[0].key != "16_16_30" {
			t.Errorf("%s: got %+v, %v", c.new, i, err)
		} else if !strings.Contains(i.omitted[0].Reason, c.want) {
			t.Errorf("%s: got %q, expected %q", c.new, i.omitted[0].Reason, c.want)
		}
	}
}

func TestInfoErrorsOfAllScales(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{`"uint8"`, `"uint24"`, `data_type: unknown voxel type "uint24"`},
		{`"data_type":"uint8",`, ``, `data_type: unknown voxel type ""`},
		{`"num_channels":1`, `"num_channels":0`, "num_channels: expected 1 or more, found 0"},
		{`"num_channels":1`, `"num_channels":1.5`, "num_channels: expected a whole number"},
		{`"num_channels":1`, `"num_channels":1099511627776`, "chunk_sizes: expected chunks of at most"},
	} {
		i, err := parseInfo([]byte(changed(t, c.old, c.new)))
		if err != nil || len(i.omitted) != 2 || !strings.Contains(i.omitted[1].Reason, c.want) {
			t.Errorf("%s: got %+v, %v, expected %q", c.new, i, err, c.want)
		}
	}
}

// TestSameName: two keys have the same name.
func TestSameName(t *testing.T) {
	i, err := parseInfo([]byte(changed(t, `"16_16_30"`, `"8/8/30"`)))
	if err != nil || len(i.scales) != 1 {
		t.Fatalf("got %+v, %v", i, err)
	}
	want := []volume.Omission{{Name: "8_8_30", Reason: `key: "8/8/30" has the same name as "8_8_30"`}}
	if !slices.Equal(i.omitted, want) {
		t.Errorf("got %v, expected %v", i.omitted, want)
	}
}

func TestNotRecognised(t *testing.T) {
	for _, b := range []string{
		"", "null", "[]", "17", `"info"`, "{", "{}", `{"@type":"neuroglancer_legacy_mesh","scales":[]}`,
		`{"@type":7,"scales":[]}`, "\x00\xff",
	} {
		if _, err := parseInfo([]byte(b)); !errors.Is(err, ErrNotRecognised) {
			t.Errorf("%q: got %v", b, err)
		}
	}
	for _, b := range []string{`{"scales":7}`, `{"scales":[],"type":7}`} {
		if _, err := parseInfo([]byte(b)); err == nil || errors.Is(err, ErrNotRecognised) {
			t.Errorf("%q: got %v", b, err)
		}
	}
}

func TestFactor(t *testing.T) {
	for _, c := range []struct {
		first, scale resolution
		want         volume.Factor
	}{
		{resolution{8, 8, 30}, resolution{16, 16, 30}, volume.Factor{2, 2, 1}},
		{resolution{3.94, 3.94, 33}, resolution{3.94 * 64, 7.88, 33}, volume.Factor{64, 2, 1}},
		{resolution{8, 8, 30}, resolution{12, 12, 30}, volume.Factor{}},
		{resolution{8, 8, 30}, resolution{4, 4, 30}, volume.Factor{}},
		{resolution{}, resolution{4, 4, 30}, volume.Factor{}},
		{resolution{8, 8, 30}, resolution{}, volume.Factor{}},
		{resolution{1e-300, 1, 1}, resolution{1e300, 1, 1}, volume.Factor{}},
	} {
		if got := c.scale.factor(c.first); got != c.want {
			t.Errorf("%v of %v: got %v, expected %v", c.scale, c.first, got, c.want)
		}
	}
}
