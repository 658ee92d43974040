package save

import "os"

// createAndRemove makes a file, and removes its name.
func createAndRemove(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, ".save-*.tmp")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		f.Close() // the first error counts
		return nil, err
	}
	return f, nil
}
