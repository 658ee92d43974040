package zarr

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/wkwfs/wkwfs/internal/arrays/codec"
	"github.com/wkwfs/wkwfs/volume"
)

func TestParseFill(t *testing.T) {
	for _, c := range []struct {
		json string
		t    volume.Type
		want string // hex, little-endian; "" is nil; "error"
	}{
		{``, volume.Uint8, ""},
		{`null`, volume.Float64, ""},
		{`0`, volume.Uint16, "0000"},
		{`777`, volume.Uint16, "0903"},
		{`7.0`, volume.Uint16, "0700"},
		{`7.5`, volume.Uint16, "error"},
		{`65536`, volume.Uint16, "error"},
		{`-1`, volume.Uint8, "error"},
		{`-5`, volume.Int32, "fbffffff"},
		{`18446744073709551614`, volume.Uint64, "feffffffffffffff"},
		{`-9223372036854775808`, volume.Int64, "0000000000000080"},
		{`true`, volume.Uint8, "01"},
		{`-1.25`, volume.Float64, "000000000000f4bf"},
		{`1`, volume.Float32, "0000803f"},
		{`"NaN"`, volume.Float32, "0000c07f"},
		{`"NaN"`, volume.Float64, "000000000000f87f"},
		{`"Infinity"`, volume.Float32, "0000807f"},
		{`"-Infinity"`, volume.Float64, "000000000000f0ff"},
		{`"0x7fc00001"`, volume.Float32, "0100c07f"},
		{`"0x7fc001"`, volume.Float32, "error"},
		{`"0x10"`, volume.Uint8, "error"},
		{`[0]`, volume.Uint8, "error"},
		{`"AAAA"`, volume.Uint8, "error"},
	} {
		b, err := parseFill(json.RawMessage(c.json), codec.Number{Type: c.t})
		got := fmt.Sprintf("%x", b)
		if err != nil {
			got = "error"
		}
		if got != c.want {
			t.Errorf("%s as %v: got %s, %v, expected %s", c.json, c.t, got, err, c.want)
		}
	}
}

// soundV3 is the metadata of an array. Tests replace a part of it.
const soundV3 = `{"zarr_format":3,"node_type":"array","shape":[8,9,10],"data_type":"uint16","fill_value":0,
	"chunk_grid":{"name":"regular","configuration":{"chunk_shape":[4,4,4]}},
	"chunk_key_encoding":{"name":"default"},
	"codecs":[{"name":"bytes","configuration":{"endian":"little"}}]}`

// soundV2 is the same in version 2.
const soundV2 = `{"zarr_format":2,"shape":[8,9,10],"chunks":[4,4,4],"dtype":"<u2","order":"C","compressor":null,"filters":null,"fill_value":0}`

// TestRefused: what breaks the format, or is not supported, is refused with the name of the field.
func TestRefused(t *testing.T) {
	for _, c := range []struct{ file, old, new, err string }{
		{metadataV3, `[8,9,10]`, `[8,9,10]`, ""},
		{arrayV2, `[8,9,10]`, `[8,9,10]`, ""},
		{metadataV3, `[8,9,10]`, `[8,-9,10]`, "shape: expected numbers from 1 to 1099511627776"},
		{metadataV3, `[8,9,10]`, `[8,9,1e300]`, "shape: expected a whole number up to 2^40"},
		{metadataV3, `[8,9,10]`, `[]`, "shape"},
		{metadataV3, `[8,9,10]`, `[3,8,9,10,11,12]`, "chunk_shape: expected 6 numbers, found 3"},
		{metadataV3, `[8,9,10]`, `[1099511627776,1099511627776,1099511627776]`,
			"expected at most 64 bits for the number of a chunk"},
		{metadataV3, `[4,4,4]`, `[4,4,0]`, "chunk: expected numbers from 1"},
		{metadataV3, `[4,4,4]`, `[4096,4096,4096]`, "chunk: expected at most 1073741824 bytes"},
		{metadataV3, `[4,4,4]`, `[4,4]`, "chunk_shape: expected 3 numbers, found 2"},
		{metadataV3, `"regular"`, `"rectangular"`, `unsupported chunk_grid: expected regular, found "rectangular"`},
		{metadataV3, `"uint16"`, `"float16"`, ""},
		{metadataV3, `"uint16"`, `"complex64"`,
			`unsupported data_type: expected an integer, a boolean, or a float of 16, 32 or 64 bits, found "complex64"`},
		{metadataV3, `"uint16"`, `{"name":"numpy.datetime64","configuration":{}}`, "unsupported data_type"},
		{metadataV3, `"default"`, `"suffix"`, "unsupported chunk_key_encoding"},
		{metadataV3, `{"name":"default"}`, `{"name":"default","configuration":{"separator":"-"}}`,
			"separator: expected . or /"},
		{metadataV3, `"bytes"`, `"packbits"`, "unsupported packbits: expected booleans, found uint16"},
		{metadataV3, `"little"`, `"middle"`, "endian: expected little or big"},
		{metadataV3, `[{"name":"bytes"`, `[{"name":"transpose","configuration":{"order":[0,0,1]}},{"name":"bytes"`,
			"order: expected each of 0 to 2 once"},
		{metadataV3, `"bytes"`, `"zfpy"`,
			`unsupported codec: expected a codec that is known, in its place, found "zfpy"`},
		{metadataV3, `[{"name":"bytes"`, `[{"name":"reshape","configuration":{"shape":[3,-1]}},{"name":"bytes"`,
			"reshape: shape: expected 64 values as in [4 4 4], found [3,-1]"},
		{metadataV3, `[{"name":"bytes"`, `[{"name":"reshape","configuration":{"shape":[-1,-1]}},{"name":"bytes"`,
			"reshape: shape: expected 64 values"},
		{metadataV3, `[{"name":"bytes"`, `[{"name":"reshape","configuration":{"shape":[[0,3]]}},{"name":"bytes"`,
			"reshape: shape: expected axes from 0 to 2, found 3"},
		{metadataV3, `[{"name":"bytes"`,
			`[{"name":"cast_value","configuration":{"data_type":"complex64"}},{"name":"bytes"`,
			"unsupported data_type"},
		{metadataV3, `[{"name":"bytes"`,
			`[{"name":"cast_value","configuration":{"data_type":"int8","rounding":"up"}},{"name":"bytes"`,
			"rounding: expected"},
		{metadataV3, `[{"name":"bytes"`, `[{"name":"scale_offset","configuration":{"offset":1.5}},{"name":"bytes"`,
			"offset: expected a value of type uint16, found 1.5"},
		{metadataV3, `[{"name":"bytes","configuration":{"endian":"little"}}]`, `[]`,
			"expected bytes or sharding_indexed"},
		{metadataV3, `"little"}}`, `"little"}},"bytes"`, `found "bytes"`},
		{metadataV3, `"fill_value":0`, `"fill_value":-1`, "fill_value: expected a value of type uint16, found -1"},
		{metadataV3, `"fill_value":0`, `"fill_value":0,"storage_transformers":[{"name":"x"}]`,
			"unsupported storage_transformers"},
		{metadataV3, `"fill_value":0`, `"fill_value":0,"new":{"must_understand":true}`, "unsupported member new"},
		{metadataV3, `"fill_value":0`, `"fill_value":0,"new":{"must_understand":false}`, ""},
		{metadataV3, `"zarr_format":3`, `"zarr_format":4`, "unsupported zarr_format: expected 3, found 4"},
		{metadataV3, `"array"`, `"list"`, "node_type: expected array or group"},
		{metadataV3, `"array"`, `"group"`, "expected an array, found a group"},
		{metadataV3, `{"zarr_format"`, `["zarr_format"`, "JSON"},
		{metadataV3, `[8,9,10]`, `[8,9,10],"dimension_names":["t","y","x"]`,
			`unsupported axis "t": expected length 1, because only x, y, z and channels are shown, found 8: copy`},
		{metadataV3, `[8,9,10]`, `[8,9,10],"dimension_names":["z","y"]`, ""},
		{arrayV2, `"<u2"`, `"<f2"`, ""},
		{arrayV2, `"<u2"`, `"<c8"`,
			`unsupported dtype: expected an integer, a boolean, or a float of 16, 32 or 64 bits, found "<c8"`},
		{arrayV2, `"<u2"`, `[["a","<u2"]]`, "unsupported dtype: expected a number"},
		{arrayV2, `"C"`, `"K"`, "order: expected C or F"},
		{arrayV2, `null,"filters"`, `{"id":"snappy"},"filters"`,
			`unsupported compressor: expected a codec that is known, found "snappy"`},
		{arrayV2, `null,"filters"`, `{"id":"lzma","format":3},"filters"`, "unsupported lzma format"},
		{arrayV2, `"filters":null`, `"filters":[{"id":"delta"}]`, "filters: delta: dtype: expected a text, found none"},
		{arrayV2, `"filters":null`, `"filters":[{"id":"delta","dtype":"<i4"}]`,
			"dtype: expected uint16, the type of what is encoded, found int32"},
		{arrayV2, `"filters":null`, `"filters":[{"id":"pcodec"}]`,
			`unsupported filters: expected filters that are known, found "pcodec"`},
		{arrayV2, `"filters":null`, `"filters":[{"id":"fixedscaleoffset","dtype":"<u2","scale":0,"offset":1}]`,
			"scale: expected a number other than 0"},
		{arrayV2, `"filters":null`, `"filters":[{"id":"shuffle","elementsize":0}]`,
			"elementsize: expected 1 to 255, found 0"},
		{arrayV2, `"filters":null`, `"filters":[{"id":"packbits"}]`,
			"packbits: dtype: expected booleans, found uint16"},
		{arrayV2, `"filters":null`, `"filters":[{"id":"crc32","location":"end"}]`, "unsupported filters"},
	} {
		metadata := map[string]string{metadataV3: soundV3, arrayV2: soundV2}[c.file]
		if !strings.Contains(metadata, c.old) {
			t.Fatalf("%s is not in the metadata", c.old)
		}
		changed := strings.Replace(metadata, c.old, c.new, 1)
		_, err := OpenArray(fstest.MapFS{"a/" + c.file: &fstest.MapFile{Data: []byte(changed)}}, "a", ArrayOptions{})
		switch {
		case c.err == "" && err != nil:
			t.Errorf("%s: %v", c.new, err)
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err) ||
			!strings.HasPrefix(err.Error(), "a/"+c.file)):
			t.Errorf("%s: got %v, expected %q", c.new, err, c.err)
		case c.err != "":
			wantFormat(t, err)
		}
	}
}

// TestShardingRefused: shards whose inner chunks do not fit, or whose index has no fixed length, are refused.
func TestShardingRefused(t *testing.T) {
	const sharding = `[{"name":"sharding_indexed","configuration":{"chunk_shape":[2,2,2],"codecs":["bytes"],"index_codecs":["bytes","crc32c"]}}]`
	for _, c := range []struct{ old, new, err string }{
		{`[2,2,2]`, `[2,2,2]`, ""},
		{`[2,2,2]`, `[2,2,3]`, "inner chunk: expected a divisor"},
		{`[2,2,2]`, `[2,2]`, "chunk_shape: expected 3 numbers"},
		{`[2,2,2]`, `[2,2,0]`, "inner chunk: expected numbers from 1"},
		{`"bytes","crc32c"`, `"bytes","gzip"`, `found "gzip"`},
		{`"bytes","crc32c"`, ``, "unsupported index_codecs: expected bytes first"},
		{`"codecs":["bytes"],`, ``, "codecs: expected a list of codecs, found none"},
		{`"codecs":`, `"index_location":"middle","codecs":`, "index_location: expected start or end"},
		{`}}]`, `}},"gzip"]`, "unsupported codec gzip: expected none after sharding_indexed"},
	} {
		codecs := strings.Replace(strings.Replace(sharding, c.old, c.new, 1), `"bytes"`,
			`{"name":"bytes","configuration":{"endian":"big"}}`, -1)
		metadata := strings.Replace(soundV3, `[{"name":"bytes","configuration":{"endian":"little"}}]`, codecs, 1)
		_, err := OpenArray(fstest.MapFS{metadataV3: &fstest.MapFile{Data: []byte(metadata)}}, ".", ArrayOptions{})
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: got %v, expected %q", c.new, err, c.err)
		}
	}
}
