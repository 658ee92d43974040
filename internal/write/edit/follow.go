package edit

import (
	"fmt"
	"log/slog"

	"github.com/wkwfs/wkwfs/internal/compose/overlay"
	"github.com/wkwfs/wkwfs/internal/files/annotation"
	"github.com/wkwfs/wkwfs/internal/stores/store"
	"github.com/wkwfs/wkwfs/volume"
)

// Follow opens the layer with what another process writes into the directory. It shows what is durable there, some
// seconds later. Close closes the directory.
func Follow(dir, layer string, below volume.Layer, log *slog.Logger) (volume.Layer, func() error, error) {
	files, err := store.Open(dir)
	if err != nil {
		return nil, nil, err
	}
	l, err := follow(files, layer, below, log)
	if err != nil {
		files.Close() // read-only: nothing can be lost
		return nil, nil, fmt.Errorf("edits of layer %s in %s: %w", layer, dir, err)
	}
	return l, files.Close, nil
}

func follow(files *store.Dir, layer string, below volume.Layer, log *slog.Logger) (volume.Layer, error) {
	a, err := annotation.Open(files, ".", log)
	if err != nil {
		return nil, err
	}
	for _, v := range a.Volumes {
		if v.Fallback != layer {
			continue
		}
		if v.Err != nil {
			return nil, v.Err
		}
		return overlay.NewLayer(below, v.Data, layer, v.As)
	}
	return nil, fmt.Errorf("expected a volume over the layer %s, found none", layer)
}
