package dataset

import (
	"context"
	"iter"

	"github.com/wkwfs/wkwfs/internal/stores/object"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

// living is a bucket of an open dataset. When the dataset is closed, no request starts any more, and those end that
// have no context of their own: lookups, listings and reads of metadata.
type living struct {
	object.Bucket
	life context.Context
}

var _ object.Cached = living{}

// bounded returns the context of a request.
func (l living) bounded(ctx context.Context) (context.Context, error) {
	if l.life.Err() != nil {
		return nil, context.Cause(l.life)
	}
	if ctx.Done() == nil {
		ctx = l.life
	}
	return ctx, nil
}

func (l living) Head(ctx context.Context, key string) (object.Object, error) {
	ctx, err := l.bounded(ctx)
	if err != nil {
		return object.Object{}, err
	}
	return l.Bucket.Head(ctx, key)
}

func (l living) Read(ctx context.Context, o object.Object, p []byte, off int64) error {
	ctx, err := l.bounded(ctx)
	if err != nil {
		return err
	}
	return l.Bucket.Read(ctx, o, p, off)
}

func (l living) ReadParts(ctx context.Context, o object.Object, parts []vfs.Range) error {
	ctx, err := l.bounded(ctx)
	if err != nil {
		return err
	}
	return l.Bucket.ReadParts(ctx, o, parts)
}

// List ends between two answers of the store, too: a listing of a large directory has a context of its own.
func (l living) List(ctx context.Context, prefix, after, delimiter string) iter.Seq2[[]object.Object, error] {
	return func(yield func([]object.Object, error) bool) {
		ctx, err := l.bounded(ctx)
		if err != nil {
			yield(nil, err)
			return
		}
		for objects, err := range l.Bucket.List(ctx, prefix, after, delimiter) {
			if err == nil && l.life.Err() != nil {
				objects, err = nil, context.Cause(l.life)
			}
			if !yield(objects, err) || err != nil {
				return
			}
		}
	}
}

// ReadCached implements [object.Cached].
func (l living) ReadCached(o object.Object, p []byte, off int64) bool {
	c, ok := l.Bucket.(object.Cached)
	return ok && c.ReadCached(o, p, off)
}
