package store

// willNeed does nothing: macOS has no fadvise(2).
func willNeed(_ int, _, _ int64) {}
