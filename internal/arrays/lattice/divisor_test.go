package lattice

import "testing"

func TestDivisor(t *testing.T) {
	for n := range 60 {
		for least := 1; least <= n; least++ {
			want := least
			for n%want != 0 {
				want++
			}
			if got := Divisor(n, least); got != want {
				t.Errorf("of %d, at least %d: got %d, expected %d", n, least, got, want)
			}
		}
	}
}
