//go:build linux

package mounts

import (
	"log/slog"
	"math"
	"time"

	"github.com/wkwfs/wkwfs/internal/small/guard"
)

// Watch watches a mount whose server lives. A lazy unmount does not end the server: programs may still have
// files open.
type Watch struct {
	mount Mount
	gone  chan struct{}
}

// watchPause is the shortest time between two looks at the table. Some machines mount all the time.
const watchPause = 100 * time.Millisecond

// NewWatch watches the mount on the path, which must be resolved.
func NewWatch(path string, log *slog.Logger) (*Watch, error) {
	m, ok, err := At(path)
	if err != nil {
		return nil, err
	}
	w := &Watch{m, make(chan struct{})}
	if !ok {
		close(w.gone)
		return w, nil
	}
	go guard.Func("mounts.watch", func() { w.run(log) })()
	return w, nil
}

// run ends with the mount, or with the process.
func (w *Watch) run(log *slog.Logger) {
	guard.Pass("mounts.watch")
	err := awaitTable(func(t Table) bool {
		_, ok := t.Find(w.mount)
		if ok {
			time.Sleep(watchPause)
		}
		return !ok
	}, math.MaxInt64)
	if err != nil {
		log.Warn("cannot see when the mount is removed", "err", err)
		return
	}
	close(w.gone)
}

// Gone returns a channel that is closed when the table no longer has the mount.
func (w *Watch) Gone() <-chan struct{} { return w.gone }

// Remove removes the mount from the tree, and returns false if that was done already. Files that are open stay
// readable. It leaves another mount at the same place alone.
func (w *Watch) Remove() (removed bool, err error) {
	table, err := ReadTable()
	if err != nil {
		return false, err
	}
	now, ok := table.Find(w.mount)
	if !ok {
		return false, nil
	}
	return true, detach(now, true)
}
