package web

import (
	"context"
	"sync"

	"github.com/wkwfs/wkwfs/internal/small/lru"
)

// pictureCache holds the most recently used pictures as PNG, and limits how many are drawn at once.
type pictureCache struct {
	slots chan struct{} // one for each picture that is being drawn

	mu       sync.Mutex
	pictures *lru.Cache[string, []byte]
}

const (
	maxCachedBytes    = 32 << 20
	maxPicturesAtOnce = 2
)

func newPictureCache() *pictureCache {
	return &pictureCache{slots: make(chan struct{}, maxPicturesAtOnce),
		pictures: lru.New[string, []byte](maxCachedBytes)}
}

// get returns the picture of the key. If it is not cached, get calls draw. It does not cache errors.
func (c *pictureCache) get(ctx context.Context, key string, draw func() ([]byte, error)) ([]byte, error) {
	if p := c.lookup(key); p != nil {
		return p, nil
	}
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if p := c.lookup(key); p != nil { // another request drew it in the meantime
		return p, nil
	}
	p, err := draw()
	if err == nil {
		c.insert(key, p)
	}
	return p, err
}

func (c *pictureCache) lookup(key string) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	p, _ := c.pictures.Get(key)
	return p
}

func (c *pictureCache) insert(key string, p []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pictures.Put(key, p, int64(len(p)))
}
