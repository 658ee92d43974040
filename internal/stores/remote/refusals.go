package remote

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/wkwfs/wkwfs/internal/stores/object"
)

// refusals decides what a refusal of a store means.
//
// Where a user may not list, stores refuse requests for absent objects, so that nobody learns which names exist. Most
// cubes of a sparse layer are absent, and must read as absent. But zeros must never stand for data that the user may
// not read any more. So a refused object counts as absent only if
//
//   - the store refuses to list, too, and
//   - the code of the refusal is one for objects, not one for credentials that are wrong or have expired, and
//   - a request for an object that exists succeeds after the refusal.
//
// Before any object was found, the last condition cannot be tested: a source is recognised by looking for several
// names. Nothing reads voxels before one of them was found.
type refusals struct {
	log *slog.Logger
	url string

	// forbidsList asks the store whether it refuses to list.
	forbidsList func(context.Context) (bool, error)
	// describe asks for an object.
	describe func(context.Context, string) (object.Object, error)

	mu     sync.Mutex
	known  string    // key of an object that exists; "": none was found yet
	proven time.Time // start of the last request that succeeded
	logged bool

	proving sync.Mutex // held while the known object is asked for
	listing sync.Mutex // held while the store is asked to list
	lists   *bool      // whether it lists; nil: not known
}

// absentCodes are the codes of refusals of single objects. A store may also give none.
var absentCodes = []string{"", "AccessDenied", "AllAccessDisabled", "forbidden", "required"}

// found records an object that exists, and that a request since start succeeded.
func (r *refusals) found(key string, start time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.known = key
	if start.After(r.proven) {
		r.proven = start
	}
}

// explain returns fs.ErrNotExist if a refusal of an object means that it is absent, else err.
func (r *refusals) explain(ctx context.Context, err error) error {
	refused := time.Now()
	var f *failure
	if !errors.As(err, &f) || !errors.Is(f.class, fs.ErrPermission) || f.status == 0 ||
		!slices.Contains(absentCodes, f.code) {
		return err
	}
	forbidden, listErr := r.isForbidden(ctx)
	switch {
	case listErr != nil:
		return listErr
	case !forbidden:
		return err
	}
	if proofErr := r.prove(ctx, refused); proofErr != nil {
		return proofErr
	}
	f.class = fs.ErrNotExist
	return err
}

// isForbidden reports whether the store refuses to list. It asks once.
func (r *refusals) isForbidden(ctx context.Context) (bool, error) {
	r.listing.Lock()
	defer r.listing.Unlock()
	if r.lists == nil {
		forbidden, err := r.forbidsList(ctx)
		if err != nil {
			return false, err
		}
		lists := !forbidden
		r.lists = &lists
	}
	return !*r.lists, nil
}

// lastKnown returns an object that exists, or "", and when that was proven.
func (r *refusals) lastKnown() (key string, proven time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.known, r.proven
}

// isNew reports whether refusals were not yet logged.
func (r *refusals) isNew() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	logged := r.logged
	r.logged = true
	return !logged
}

// prove returns an error unless a request for an existing object, sent after the given time, succeeds.
func (r *refusals) prove(ctx context.Context, after time.Time) error {
	r.proving.Lock()
	defer r.proving.Unlock()
	key, proven := r.lastKnown()
	if key == "" || proven.After(after) {
		return nil
	}
	start := time.Now()
	if _, err := r.describe(ctx, key); err != nil {
		return err
	}
	r.found(key, start)
	if r.isNew() {
		r.log.Warn("the store refuses to list: objects that it refuses count as absent", "url", r.url)
	}
	return nil
}
