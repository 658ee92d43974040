package cseg

import (
	"fmt"

	"github.com/wkwfs/wkwfs/volume"
)

func invalid(part string, offset int, expected, found string) error {
	return fmt.Errorf("compressed_segmentation: %w", &volume.FormatError{Part: part, Offset: int64(offset),
		Expected: expected, Found: found})
}
