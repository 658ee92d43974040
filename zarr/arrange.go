package zarr

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/wkwfs/wkwfs/internal/arrays/chunked"
	"github.com/wkwfs/wkwfs/internal/arrays/codec"
	"github.com/wkwfs/wkwfs/internal/small/jsonlimit"
)

// arrayCodec reads a codec that makes an array of an array. It returns false if it is not one of these.
func (r *codecReader) arrayCodec(e extension) (bool, error) {
	var c codec.Codec
	var err error
	stored := r.number
	switch name, isNumcodecs := strings.CutPrefix(e.name, "numcodecs."); {
	case e.name == "transpose":
		return true, r.transpose(e.config)
	case e.name == "reshape":
		return true, r.reshape(e.config)
	case e.name == "scale_offset":
		c, err = scaleOffset(e.config, r.number)
	case e.name == "cast_value":
		c, stored, err = castValue(e.config, r.number)
	case isNumcodecs && numcodecsFilters[name] != nil:
		if name == "delta" || name == "packbits" { // in the order of the values
			if err := r.fix(); err != nil {
				return true, err
			}
		}
		c, stored, err = numcodecsFilters[name](e.config, r.number)
		if name == "packbits" {
			r.packed = true
		}
	default:
		return false, nil
	}
	stored.Big = false // the codec bytes says it
	if v, ok := c.(codec.Convert); ok {
		v.From.Big, v.To.Big = false, false
		c, r.isBool = v, false
	}
	if c != nil {
		r.array.Codecs = append(r.array.Codecs, c)
	}
	r.number = stored
	return true, err
}

// fix makes the order of the values that of the axes so far. Codecs after it arrange the values of a whole chunk.
func (r *codecReader) fix() error {
	if r.fixed != nil {
		return nil
	}
	chunk := r.array.Chunk
	if n := len(r.array.Shards); n > 0 {
		chunk = r.array.Shards[n-1].Inner
	}
	for _, axis := range r.order {
		r.fixed = append(r.fixed, chunk[axis])
	}
	_, err := values(r.fixed)
	return err
}

// values returns how many values a shape has.
func values(shape []int) (int, error) {
	n := 1
	for _, extent := range shape {
		if extent < 1 || extent > chunked.MaxChunkBytes/n {
			return 0, fmt.Errorf("chunk: expected at most %d bytes, found %v values", chunked.MaxChunkBytes, shape)
		}
		n *= extent
	}
	return n, nil
}

// transpose reads a permutation: axis i of the result is axis order[i] of the argument.
func (r *codecReader) transpose(config object) error {
	rank := len(r.order)
	if r.fixed != nil {
		rank = len(r.fixed)
	}
	order, err := permutation(config, rank)
	if err != nil {
		return err
	}
	if r.packed {
		return unsupported("transpose", "none after packbits", "one")
	}
	if r.fixed == nil {
		r.order = pick(r.order, order)
		return nil
	}
	shape := slices.Clone(r.fixed)
	r.array.Codecs = append(r.array.Codecs, codec.Permute{Shape: &shape, Order: &order, Size: r.number.Size()})
	r.fixed = pick(r.fixed, order)
	return nil
}

// pick returns the elements of a list in an order.
func pick(list, order []int) []int {
	picked := make([]int, len(order))
	for i, at := range order {
		picked[i] = list[at]
	}
	return picked
}

// permutation reads the order of a transposition. Drafts of the specification have "C" for the order of the axes, and
// "F" for the reverse.
func permutation(config object, rank int) ([]int, error) {
	var letter string
	if json.Unmarshal(orNull(config["order"]), &letter) == nil && (letter == "C" || letter == "F") {
		order := identity(rank)
		if letter == "F" {
			slices.Reverse(order)
		}
		return order, nil
	}
	order, err := integers(config, "order")
	if err != nil {
		return nil, fmt.Errorf("transpose: %w", err)
	}
	if sorted := slices.Sorted(slices.Values(order)); !slices.Equal(sorted, identity(rank)) {
		return nil, fmt.Errorf("transpose: order: expected each of 0 to %d once, found %v", rank-1, order)
	}
	return order, nil
}

// reshape reads another shape of the chunk, whose values keep their order. An extent is a number, -1 for what is left,
// or a list of axes whose extents are multiplied.
func (r *codecReader) reshape(config object) error {
	if err := r.fix(); err != nil {
		return err
	}
	list, err := jsonlimit.List[json.RawMessage](orNull(config["shape"]), maxRank, "numbers")
	if err != nil {
		return fmt.Errorf("reshape: shape: %w", err)
	}
	total, err := values(r.fixed)
	if err != nil {
		return err
	}
	shape, open := make([]int, len(list)), -1
	for i, raw := range list {
		var n jsonlimit.Integer
		if json.Unmarshal(raw, &n) != nil {
			if n, err = r.product(raw); err != nil {
				return fmt.Errorf("reshape: shape: %w", err)
			}
		}
		if shape[i] = int(n); n == -1 && open < 0 {
			open, shape[i] = i, 1
		}
	}
	found, err := values(shape)
	if err == nil && open >= 0 && total%found == 0 {
		shape[open] = total / found
		found = total
	}
	if err != nil || found != total || len(shape) == 0 {
		return fmt.Errorf("reshape: shape: expected %d values as in %v, found %s", total, r.fixed,
			jsonlimit.Abbreviate(config["shape"]))
	}
	r.fixed = shape
	return nil
}

// product returns the product of the extents of axes.
func (r *codecReader) product(raw json.RawMessage) (jsonlimit.Integer, error) {
	axes, err := jsonlimit.List[jsonlimit.Integer](raw, maxRank, "axes")
	n := jsonlimit.Integer(1)
	for _, axis := range axes {
		if axis < 0 || int(axis) >= len(r.fixed) {
			return 0, fmt.Errorf("expected axes from 0 to %d, found %d", len(r.fixed)-1, axis)
		}
		if n *= jsonlimit.Integer(r.fixed[axis]); n > chunked.MaxChunkBytes {
			return 0, fmt.Errorf("expected at most %d values, found more", chunked.MaxChunkBytes)
		}
	}
	return n, err
}

// packBits reads the codec packbits of version 3 (zarr-extensions), which takes the place of bytes.
func (r *codecReader) packBits(config object) error {
	if !r.isBool {
		return unsupported("packbits", "booleans", fmt.Sprint(r.number))
	}
	c := codec.PackBits{Padding: codec.NoPadding}
	if err := config.Get("padding_encoding", &c.Padding); err != nil {
		return fmt.Errorf("packbits: %w", err)
	}
	switch c.Padding {
	case codec.NoPadding, codec.FirstByte, codec.LastByte:
	default:
		return fmt.Errorf("packbits: padding_encoding: expected none, first_byte or last_byte, found %q",
			jsonlimit.Abbreviate(string(c.Padding)))
	}
	for _, name := range []string{"first_bit", "last_bit"} {
		bit := 0
		if err := config.Get(name, &bit); err != nil || bit != 0 {
			return fmt.Errorf("packbits: %s: expected 0, the only bit of a boolean, found %s", name,
				jsonlimit.Abbreviate(config[name]))
		}
	}
	r.array.Codecs = append(r.array.Codecs, c)
	return nil
}
