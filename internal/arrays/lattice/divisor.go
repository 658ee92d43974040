package lattice

// Divisor returns the smallest divisor of n that is at least least. least is from 1 to n.
func Divisor(n, least int) int {
	best := n
	for d := 1; d*d <= n; d++ {
		if n%d != 0 {
			continue
		}
		for _, c := range [2]int{d, n / d} {
			if c >= least && c < best {
				best = c
			}
		}
	}
	return best
}
