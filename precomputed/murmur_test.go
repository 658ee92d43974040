package precomputed

import "testing"

func TestMurmur(t *testing.T) {
	for n, want := range map[uint64]uint64{
		0: 0x4772b084e028ae41, 249: 0x39554ceab4ce78a7, 212: 0x1187f86987692e04, 3369 >> 9: 0x1fd9d823a062df38,
		143074590926857: 0xe379858cbb050032,
	} {
		if got := murmur(n); got != want {
			t.Errorf("murmur(%d) is %x, expected %x", n, got, want)
		}
	}
}
