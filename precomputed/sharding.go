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

// sharding says in which shard and minishard a chunk is (sharded.md, "Sharding
// specification").
type sharding struct {
	preshift      int // bits of the chunk's number that are not hashed
	murmur        bool
	minishardBits int
	shardBits     int
	gzipIndexes   bool // of minishards
	gzipData      bool
}

// parseSharding reads the "sharding" member of a scale.
func parseSharding(o object) (*sharding, error) {
	var kind, hash string
	var preshift, minishard, shard whole
	indexes, data := "raw", "raw"
	for name, to := range map[string]any{
		"@type": &kind, "hash": &hash, "preshift_bits": &preshift, "minishard_bits": &minishard, "shard_bits": &shard,
		"minishard_index_encoding": &indexes, "data_encoding": &data,
	} {
		if err := o.get(name, to); err != nil {
			return nil, err
		}
	}
	for _, f := range []struct {
		name    string
		n, most whole
	}{{"preshift_bits", preshift, 64}, {"minishard_bits", minishard, 32}, {"shard_bits", shard, 64 - minishard}} {
		if f.n < 0 || f.n > f.most {
			return nil, fmt.Errorf("%s: expected 0 to %d, found %d", f.name, f.most, f.n)
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

// place is a minishard of a scale.
type place struct{ shard, minishard uint64 }

// locate returns where the chunk with the number is: the low bits of the hash choose
// the minishard, the next ones the shard.
func (s *sharding) locate(id uint64) place {
	h := id >> s.preshift
	if s.murmur {
		h = murmur(h)
	}
	return place{
		shard:     h >> s.minishardBits & (1<<s.shardBits - 1),
		minishard: h & (1<<s.minishardBits - 1),
	}
}

// stem returns the name of a shard's file without its suffix: hexadecimal digits, as
// many as the shard with the highest number needs.
func (s *sharding) stem(shard uint64) string {
	return fmt.Sprintf("%0*x", (s.shardBits+3)/4, shard)
}

// parseStem is the inverse of stem.
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
