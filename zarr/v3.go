package zarr

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/wkwfs/wkwfs/internal/arrays/chunked"
	"github.com/wkwfs/wkwfs/internal/arrays/codec"
	"github.com/wkwfs/wkwfs/internal/small/jsonlimit"
)

// membersV3 are the members of a zarr.json that this package knows.
var membersV3 = []string{
	"zarr_format", "node_type", "shape", "data_type", "chunk_grid", "chunk_key_encoding", "fill_value", "codecs",
	"attributes", "storage_transformers", "dimension_names", "consolidated_metadata",
}

// parseV3 parses the zarr.json of an array (v3, "Array metadata").
func parseV3(o object) (*chunked.Array, error) {
	a := &chunked.Array{}
	var number codec.Number
	var isBool bool
	for _, read := range []func() error{
		func() error { return checkVersion(o, 3) },
		func() error { return checkMembers(o) },
		func() (err error) { a.Shape, err = integers(o, "shape"); return err },
		func() (err error) { number, isBool, err = readType(o); a.Type = number.Type; return err },
		func() error { return readChunkGrid(o, a) },
		func() error { return readKeyEncoding(o, a) },
		func() error { return readNames(o, a) },
		func() error { return readCodecs(o, a, number, isBool) },
		func() (err error) { a.Fill, err = parseFill(o["fill_value"], number); return err },
	} {
		if err := read(); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// checkMembers refuses members that have to be understood (v3, "Extension points").
func checkMembers(o object) error {
	for name, value := range o {
		var extension struct {
			MustUnderstand *bool `json:"must_understand"`
		}
		if slices.Contains(membersV3, name) || json.Unmarshal(value, &extension) == nil &&
			extension.MustUnderstand != nil && !*extension.MustUnderstand {
			continue
		}
		return unsupported("member "+jsonlimit.Abbreviate(name), "none, or must_understand false",
			jsonlimit.Abbreviate(value))
	}
	transformers, err := jsonlimit.List[json.RawMessage](orNull(o["storage_transformers"]), maxCodecs,
		"storage transformers")
	if err != nil {
		return fmt.Errorf("storage_transformers: %w", err)
	}
	if len(transformers) > 0 {
		return unsupported("storage_transformers", "none", jsonlimit.Abbreviate(transformers[0]))
	}
	return nil
}

func orNull(b json.RawMessage) json.RawMessage {
	if b == nil {
		return json.RawMessage("null")
	}
	return b
}

// readType reads the data type (v3, "Data types"). Booleans are bytes of 0 and 1.
func readType(o object) (n codec.Number, isBool bool, err error) {
	name, err := extensionOf(o, "data_type")
	if err != nil {
		return n, false, err
	}
	if isBool = name.name == "bool"; isBool {
		name.name = "uint8"
	}
	n, ok := parseTypeName(name.name)
	if !ok {
		err = unsupported("data_type", numbers, fmt.Sprintf("%q", jsonlimit.Abbreviate(name.name)))
	}
	return n, isBool, err
}

// extension is a name with a configuration. It may be written as the name alone.
type extension struct {
	name   string
	config object
}

func (e *extension) UnmarshalJSON(b []byte) error {
	if json.Unmarshal(b, &e.name) == nil {
		return nil
	}
	var o object
	if err := json.Unmarshal(b, &o); err != nil {
		return err
	}
	var err error
	if e.name, err = text(o, "name"); err != nil {
		return err
	}
	return o.Get("configuration", &e.config)
}

// extensionOf parses a member that must be there.
func extensionOf(o object, name string) (e extension, err error) {
	if !o.Has(name) {
		return e, fmt.Errorf("%s: expected a name, found none", name)
	}
	err = o.Get(name, &e)
	return e, err
}

func readChunkGrid(o object, a *chunked.Array) error {
	grid, err := extensionOf(o, "chunk_grid")
	if err != nil {
		return err
	}
	if grid.name != "regular" {
		return unsupported("chunk_grid", "regular", fmt.Sprintf("%q", jsonlimit.Abbreviate(grid.name)))
	}
	if a.Chunk, err = integers(grid.config, "chunk_shape"); err != nil {
		return fmt.Errorf("chunk_grid: %w", err)
	}
	return nil
}

// readKeyEncoding reads how chunks are named (v3, "Chunk key encoding").
func readKeyEncoding(o object, a *chunked.Array) error {
	encoding, err := extensionOf(o, "chunk_key_encoding")
	if err != nil {
		return err
	}
	switch encoding.name {
	case "default":
		a.Key = chunked.Key{Prefix: "c", Separator: "/"}
	case "v2":
		a.Key = chunked.Key{Separator: "."}
	default:
		return unsupported("chunk_key_encoding", "default or v2",
			fmt.Sprintf("%q", jsonlimit.Abbreviate(encoding.name)))
	}
	if err := readSeparator(encoding.config, &a.Key, "separator"); err != nil {
		return fmt.Errorf("chunk_key_encoding: %w", err)
	}
	return nil
}

// readNames reads the names of the axes. Each may be null.
func readNames(o object, a *chunked.Array) error {
	if !o.Has("dimension_names") {
		return nil
	}
	names, err := jsonlimit.List[*string](o["dimension_names"], maxRank, "names")
	if err != nil {
		return fmt.Errorf("dimension_names: %w", err)
	}
	for _, n := range names {
		if n == nil {
			n = new(string)
		}
		a.Names = append(a.Names, *n)
	}
	return nil
}
