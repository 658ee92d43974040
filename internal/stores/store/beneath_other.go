//go:build !linux

package store

import "path"

// beneath is a directory that no path leads out of. It opens one directory after the other.
type beneath struct{ confined }

func openBeneath(name string) (*beneath, error) {
	r, err := openConfined(name)
	if err != nil {
		return nil, err
	}
	return &beneath{r}, nil
}

// pathOf returns a path of a file for system calls.
func (b *beneath) pathOf(name string) string { return path.Join(b.Name(), name) }
