package cache

import "unsafe"

// alignHuge cuts off what lies before the first huge page.
func alignHuge(p []byte) []byte {
	return p[-uintptr(unsafe.Pointer(unsafe.SliceData(p)))%hugePage:]
}
