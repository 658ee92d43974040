package zarr

import (
	"encoding/json"
	"fmt"

	"github.com/wkwfs/wkwfs/internal/arrays/codec"
	"github.com/wkwfs/wkwfs/internal/small/jsonlimit"
)

// numcodecsFilters are the codecs of numcodecs that take values, and not bytes. A function returns what decodes a value
// to one of type to, and how values are stored. The codec is nil if stored and decoded values are the same.
var numcodecsFilters = map[string]func(config object, to codec.Number) (codec.Codec, codec.Number, error){
	"delta": func(config object, to codec.Number) (codec.Codec, codec.Number, error) {
		return convert("delta", config, "dtype", "astype", to)
	},
	"astype": func(config object, to codec.Number) (codec.Codec, codec.Number, error) {
		if !config.Has("encode_dtype") {
			return nil, to, fmt.Errorf("encode_dtype: expected a data type, found none")
		}
		return convert("astype", config, "decode_dtype", "encode_dtype", to)
	},
	"quantize": func(config object, to codec.Number) (codec.Codec, codec.Number, error) {
		return convert("astype", config, "dtype", "astype", to)
	},
	"bitround":         func(_ object, to codec.Number) (codec.Codec, codec.Number, error) { return nil, to, nil },
	"fixedscaleoffset": fixedScaleOffset,
	"packbits": func(_ object, to codec.Number) (codec.Codec, codec.Number, error) {
		if to.Size() != 1 {
			return nil, to, fmt.Errorf("dtype: expected booleans, found %v", to)
		}
		return codec.PackBits{HighFirst: true, Padding: codec.FirstByte}, to, nil
	},
}

// convert returns a codec with a decoded and a stored type. Numcodecs looks at bytes as what its configuration says;
// this is refused where it is not what they are.
func convert(name string, config object, decoded, stored string, to codec.Number) (codec.Codec, codec.Number, error) {
	shown, err := numpyType(config, decoded, nil)
	if err != nil {
		return nil, to, err
	}
	if shown.Type != to.Type || shown.Half != to.Half {
		return nil, to, fmt.Errorf("%s: expected %v, the type of what is encoded, found %v", decoded, to, shown)
	}
	from, err := numpyType(config, stored, &shown)
	if err != nil {
		return nil, to, err
	}
	if name == "astype" && from == shown {
		return nil, from, nil
	}
	return codec.Convert{Name: name, From: from, To: shown}, from, nil
}

func fixedScaleOffset(config object, to codec.Number) (codec.Codec, codec.Number, error) {
	c, from, err := convert("fixedscaleoffset", config, "dtype", "astype", to)
	if err != nil {
		return nil, to, err
	}
	by := c.(codec.Convert)
	for name, value := range map[string]*float64{"scale": &by.Scale.Float, "offset": &by.Offset.Float} {
		if !config.Has(name) {
			return nil, to, fmt.Errorf("%s: expected a number, found none", name)
		}
		if err := config.Get(name, value); err != nil {
			return nil, to, err
		}
	}
	if by.Scale.Float == 0 {
		return nil, to, fmt.Errorf("scale: expected a number other than 0, found 0")
	}
	return by, from, nil
}

// scaleOffset reads the codec scale_offset (zarr-extensions). Both numbers are of the type of the array.
func scaleOffset(config object, n codec.Number) (codec.Codec, error) {
	c := codec.Convert{Name: "scale_offset", From: n, To: n, Scale: codec.Value{Whole: 1, Float: 1}}
	for name, value := range map[string]*codec.Value{"scale": &c.Scale, "offset": &c.Offset} {
		if !config.Has(name) {
			continue
		}
		var err error
		if *value, err = parseValue(config[name], n); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	if isFloat := n.Type.IsFloat(); isFloat && c.Scale.Float == 0 || !isFloat && c.Scale.Whole == 0 {
		return nil, fmt.Errorf("scale: expected a number other than 0, found 0")
	}
	return c, nil
}

// castValue reads the codec cast_value (zarr-extensions).
func castValue(config object, to codec.Number) (codec.Codec, codec.Number, error) {
	name, err := extensionOf(config, "data_type")
	if err != nil {
		return nil, to, err
	}
	from, ok := parseTypeName(name.name)
	if !ok {
		return nil, to, unsupported("data_type", "an integer, or a float of 16, 32 or 64 bits",
			fmt.Sprintf("%q", jsonlimit.Abbreviate(name.name)))
	}
	c := codec.Convert{Name: "cast_value", From: from, To: to, Rounding: codec.NearestEven}
	if err := config.Get("rounding", &c.Rounding); err != nil {
		return nil, to, err
	}
	if err := config.Get("out_of_range", &c.Outside); err != nil {
		return nil, to, err
	}
	switch {
	case !c.Rounding.Valid():
		return nil, to, fmt.Errorf("rounding: expected nearest-even or another mode, found %q",
			jsonlimit.Abbreviate(string(c.Rounding)))
	case to.Type.IsFloat() && from.Size() >= to.Size() && from != to && c.Rounding != codec.NearestEven:
		return nil, to, unsupported("rounding", "nearest-even where floats are rounded", fmt.Sprintf("%q", c.Rounding))
	case c.Outside != codec.Fail && c.Outside != codec.Clamp && c.Outside != codec.Wrap:
		return nil, to, fmt.Errorf("out_of_range: expected clamp or wrap, found %q",
			jsonlimit.Abbreviate(string(c.Outside)))
	}
	c.Map, err = scalarMap(config, from, to)
	return c, from, err
}

const maxMapped = 1 << 10

// scalarMap reads which stored values are decoded as which others. It returns nil if there are none.
func scalarMap(config object, from, to codec.Number) (*[]codec.Mapped, error) {
	var both object
	if err := config.Get("scalar_map", &both); err != nil {
		return nil, err
	}
	pairs, err := jsonlimit.List[[]json.RawMessage](orNull(both["decode"]), maxMapped, "values")
	if err != nil {
		return nil, fmt.Errorf("scalar_map: decode: %w", err)
	}
	var all []codec.Mapped
	for _, p := range pairs {
		if len(p) != 2 {
			return nil, fmt.Errorf("scalar_map: decode: expected two values, found %d", len(p))
		}
		var m codec.Mapped
		if m.From, err = parseValue(p[0], from); err == nil {
			m.To, err = parseValue(p[1], to)
		}
		if err != nil {
			return nil, fmt.Errorf("scalar_map: decode: %w", err)
		}
		all = append(all, m)
	}
	if all == nil {
		return nil, nil
	}
	return &all, nil
}
