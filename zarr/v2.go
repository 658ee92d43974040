package zarr

import (
	"fmt"
	"slices"

	"github.com/wkwfs/wkwfs/internal/arrays/chunked"
	"github.com/wkwfs/wkwfs/internal/arrays/codec"
	"github.com/wkwfs/wkwfs/internal/small/jsonlimit"
)

// parseV2 parses a .zarray (v2, "Arrays"). names are those of its axes in .zattrs, or nil.
func parseV2(o object, names []string) (*chunked.Array, error) {
	a := &chunked.Array{Names: names, Key: chunked.Key{Separator: "."}}
	var number codec.Number
	for _, read := range []func() error{
		func() error { return checkVersion(o, 2) },
		func() (err error) { a.Shape, err = integers(o, "shape"); return err },
		func() (err error) { a.Chunk, err = integers(o, "chunks"); return err },
		func() (err error) { number, err = readDType(o); a.Type = number.Type; return err },
		func() error { return readOrder(o, a) },
		func() error { return readCompressor(o, a, number) },
		func() (err error) { a.Fill, err = parseFill(o["fill_value"], number); return err },
		func() error { return readSeparator(o, &a.Key, "dimension_separator") },
	} {
		if err := read(); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// checkVersion checks zarr_format. Some writers of groups write it as a text.
func checkVersion(o object, want int) error {
	if found := string(o["zarr_format"]); found != fmt.Sprint(want) && found != fmt.Sprintf("%q", fmt.Sprint(want)) {
		return unsupported("zarr_format", fmt.Sprint(want), jsonlimit.Abbreviate(found))
	}
	return nil
}

// readDType reads the data type, in the form of numpy (v2, "Data type encoding").
func readDType(o object) (n codec.Number, err error) {
	var name string
	if err := o.Get("dtype", &name); err != nil { // a list: a structured type
		return n, unsupported("dtype", "a number", jsonlimit.Abbreviate(o["dtype"]))
	}
	n, ok := parseDType(name)
	if !ok {
		err = unsupported("dtype", numbers, fmt.Sprintf("%q", jsonlimit.Abbreviate(name)))
	}
	return n, err
}

// readOrder reads the order of the values in a chunk: C, the last axis fastest, or F, the first.
func readOrder(o object, a *chunked.Array) error {
	order, err := text(o, "order")
	if err != nil {
		return err
	}
	if order != "C" && order != "F" {
		return fmt.Errorf("order: expected C or F, found %q", jsonlimit.Abbreviate(order))
	}
	a.Order = identity(len(a.Shape))
	if order == "F" {
		slices.Reverse(a.Order)
	}
	return nil
}

// identity returns 0, 1, 2, …
func identity(n int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	return order
}

// numcodecs are the codecs of numcodecs. Blosc chunks have their parameters in their header.
var numcodecs = map[string]codec.Codec{
	"zlib": codec.Zlib{}, "gzip": codec.Gzip{}, "zstd": codec.Zstd{}, "lz4": codec.LZ4{}, "blosc": codec.Blosc{},
	"bz2":    codec.Bzip2{},
	"crc32c": codec.CRC32C{}, "crc32": codec.CRC32{}, "adler32": codec.Adler32{}, "fletcher32": codec.Fletcher32{},
}

// readCompressor reads the filters and the compressor.
func readCompressor(o object, a *chunked.Array, number codec.Number) error {
	filters, err := jsonlimit.List[object](orNull(o["filters"]), maxCodecs, "filters")
	if err != nil {
		return fmt.Errorf("filters: %w", err)
	}
	widen(a, number)
	// what a filter decodes has the byte order that it says, which is not always this one
	a.BigEndian = number.Big && !number.Half
	for _, f := range filters {
		if number, err = readFilter(f, a, number); err != nil {
			return fmt.Errorf("filters: %w", err)
		}
	}
	var compressor object
	if err := o.Get("compressor", &compressor); err != nil {
		return err
	}
	if compressor != nil {
		c, err := numcodec(compressor, "compressor")
		if err != nil {
			return err
		}
		if c == (codec.Blosc{}) {
			a.Unit = bloscUnit(compressor, a.Type.Size())
		}
		a.Codecs = append(a.Codecs, c)
	}
	a.Compression = a.Codecs.String()
	return nil
}

// readFilter reads a filter of values, or of bytes. number says what it encodes. It returns how values are stored then.
func readFilter(config object, a *chunked.Array, number codec.Number) (codec.Number, error) {
	id, _ := text(config, "id")
	switch filter := numcodecsFilters[id]; {
	case filter != nil:
		c, stored, err := filter(config, number)
		if err != nil {
			return number, fmt.Errorf("%s: %w", id, err)
		}
		if c != nil {
			a.Codecs = append(a.Codecs, c)
		}
		return stored, nil
	case id == "shuffle", id == "crc32c", id == "crc32", id == "adler32", id == "fletcher32":
		c, err := numcodec(config, "filters")
		a.Codecs = append(a.Codecs, c)
		return number, err
	}
	return number, unsupported("filters", "filters that are known", fmt.Sprintf("%q", jsonlimit.Abbreviate(id)))
}

// numcodec returns the codec with a configuration.
func numcodec(config object, member string) (codec.Codec, error) {
	id, err := text(config, "id")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", member, err)
	}
	if id == "lzma" {
		return lzma(config)
	}
	if id == "shuffle" {
		return shuffle(config)
	}
	c, ok := numcodecs[id]
	if !ok || config.Has("location") { // of a checksum that is not at its usual place
		return nil, unsupported(member, "a codec that is known", jsonlimit.Abbreviate(fmt.Sprintf("%q", id)))
	}
	return c, nil
}

// lzma returns the codec of a container of LZMA. It ignores the filters of the configuration: a container names its
// own.
func lzma(config object) (codec.Codec, error) {
	const xz, alone = 1, 2
	format := xz
	if err := config.Get("format", &format); err != nil {
		return nil, fmt.Errorf("lzma: %w", err)
	}
	switch format {
	case xz:
		return codec.XZ{}, nil
	case alone:
		return codec.LZMA{}, nil
	}
	return nil, unsupported("lzma format", "1 or 2", fmt.Sprint(format))
}

func shuffle(config object) (codec.Codec, error) {
	c := codec.Shuffle{Size: 4}
	if err := config.Get("elementsize", &c.Size); err != nil {
		return nil, fmt.Errorf("shuffle: %w", err)
	}
	if c.Size < 1 || c.Size > 255 {
		return nil, fmt.Errorf("shuffle: elementsize: expected 1 to 255, found %d", c.Size)
	}
	return c, nil
}

// readSeparator reads the character between the numbers in names of chunks. If the member is missing, k keeps its
// separator.
func readSeparator(o object, k *chunked.Key, name string) error {
	if err := o.Get(name, &k.Separator); err != nil {
		return err
	}
	if k.Separator != "." && k.Separator != "/" {
		return fmt.Errorf("%s: expected . or /, found %q", name, jsonlimit.Abbreviate(k.Separator))
	}
	return nil
}
