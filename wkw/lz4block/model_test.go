package lz4block

// model decodes src byte by byte, as in the description of the format. It reports whether src is a block of n bytes.
func model(src []byte, n int) ([]byte, bool) {
	var dst []byte
	next := func() (byte, bool) {
		if len(src) == 0 {
			return 0, false
		}
		b := src[0]
		src = src[1:]
		return b, true
	}
	length := func(n int) (int, bool) {
		for more := n == 15; more; {
			b, ok := next()
			if !ok {
				return 0, false
			}
			n, more = n+int(b), b == 255
		}
		return n, true
	}
	for {
		token, ok := next()
		if !ok {
			return nil, false
		}
		literals, ok := length(int(token >> 4))
		if !ok || literals > len(src) || len(dst)+literals > n {
			return nil, false
		}
		dst, src = append(dst, src[:literals]...), src[literals:]
		if len(src) == 0 {
			return dst, len(dst) == n && token&15 == 0
		}
		low, _ := next()
		high, ok := next()
		offset := int(low) + 256*int(high)
		match, whole := length(int(token & 15))
		if !ok || !whole || offset == 0 || offset > len(dst) || len(dst)+match+4 > n {
			return nil, false
		}
		for range match + 4 {
			dst = append(dst, dst[len(dst)-offset])
		}
	}
}
