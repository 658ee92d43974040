//go:build !linux

package store

// list implements [lister].
func (d *Dir) list(dir string) (*listing, error) { return listByPath(d, dir), nil }
