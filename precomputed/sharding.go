package precomputed

import (
	"fmt"
	"slices"
	"strings"
)

const (
	shardSuffix = ".shard"
	shardedType = "neuroglancer_uint64_sharded_v1"
)

// maxMinishardBits limits the shard index to 256 MiB. Writers aim at some kilobytes. A shard with a larger index could
// be a small file with a hole that takes hours to read.
const maxMinishardBits = 24

// sharding maps chunks to shards and minishards (sharded.md, "Sharding specification").
type sharding struct {
	preshift      int  // low bits of the chunk ID that are not hashed
	murmur        bool // the hash is MurmurHash3, not the identity
	minishardBits int
	shardBits     int
	gzipIndexes   bool // minishard indexes are compressed
	gzipData      bool // chunks are compressed
}

// parseSharding parses the "sharding" member of a scale.
func parseSharding(o object) (*sharding, error) {
	var kind, hash string
	var preshift, minishard, shard integer
	indexes, data := "raw", "raw"
	for name, to := range map[string]any{
		"@type": &kind, "hash": &hash, "preshift_bits": &preshift, "minishard_bits": &minishard, "shard_bits": &shard,
		"minishard_index_encoding": &indexes, "data_encoding": &data,
	} {
		if err := o.Get(name, to); err != nil {
			return nil, err
		}
	}
	for _, f := range []struct {
		name   string
		n, max integer
	}{{"preshift_bits", preshift, 64}, {"minishard_bits", minishard, maxMinishardBits},
		{"shard_bits", shard, 64 - minishard}} {
		if f.n < 0 || f.n > f.max {
			return nil, fmt.Errorf("%s: expected 0 to %d, found %d", f.name, f.max, f.n)
		}
	}
	for _, f := range []struct {
		name, value string
		allowed     []string
	}{
		{"@type", kind, []string{shardedType}},
		{"hash", hash, []string{"identity", "murmurhash3_x86_128"}},
		{"minishard_index_encoding", indexes, []string{"raw", "gzip"}},
		{"data_encoding", data, []string{"raw", "gzip"}},
	} {
		if !slices.Contains(f.allowed, f.value) {
			return nil, fmt.Errorf("%s: expected %s, found %q", f.name, strings.Join(f.allowed, " or "), f.value)
		}
	}
	return &sharding{
		preshift:      int(preshift),
		murmur:        hash != "identity",
		minishardBits: int(minishard),
		shardBits:     int(shard),
		gzipIndexes:   indexes == "gzip",
		gzipData:      data == "gzip",
	}, nil
}

// minishardID names a minishard of a scale.
type minishardID struct{ shard, minishard uint64 }

// locate returns the minishard of a chunk ID. The low bits of the hash select the minishard, the next bits the shard.
func (s *sharding) locate(id uint64) minishardID {
	h := id >> s.preshift
	if s.murmur {
		h = murmur(h)
	}
	return minishardID{
		shard:     h >> s.minishardBits & (1<<s.shardBits - 1),
		minishard: h & (1<<s.minishardBits - 1),
	}
}

// stem returns the name of a shard file without its suffix. It is hexadecimal, padded with zeros to the length of the
// highest shard number.
func (s *sharding) stem(shard uint64) string {
	return fmt.Sprintf("%0*x", (s.shardBits+3)/4, shard)
}

// parseStem returns the shard with a stem. It returns false if there is none.
func (s *sharding) parseStem(stem string) (shard uint64, ok bool) {
	if stem == "" || len(stem) > 16 {
		return 0, false
	}
	for _, c := range []byte(stem) {
		digit := strings.IndexByte("0123456789abcdef", c)
		if digit < 0 {
			return 0, false
		}
		shard = shard<<4 | uint64(digit)
	}
	return shard, s.stem(shard) == stem && shard <= 1<<s.shardBits-1
}
