package precomputed

import "testing"

func TestStems(t *testing.T) {
	for _, c := range []struct {
		bits  int
		shard uint64
		want  string
	}{{0, 0, "0"}, {1, 1, "1"}, {4, 15, "f"}, {5, 1, "01"}, {11, 0x456, "456"}, {64, 1<<64 - 1, "ffffffffffffffff"}} {
		s := &sharding{shardBits: c.bits}
		if got := s.stem(c.shard); got != c.want {
			t.Errorf("got %s, expected %s", got, c.want)
		}
		if n, ok := s.parseStem(c.want); !ok || n != c.shard {
			t.Errorf("%s: got %d, %v", c.want, n, ok)
		}
	}
	s := &sharding{shardBits: 5}
	for _, stem := range []string{"", "0", "20", "001", "0F", "0g", "-1", "ffffffffffffffffff"} {
		if n, ok := s.parseStem(stem); ok {
			t.Errorf("%s: got %d", stem, n)
		}
	}
}
