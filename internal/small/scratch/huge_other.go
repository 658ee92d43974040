//go:build !linux

package scratch

// adviseHuge does nothing: these kernels choose the size of pages themselves.
func adviseHuge([]byte) {}
