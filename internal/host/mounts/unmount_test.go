//go:build linux

package mounts

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// TestRetryInUse: a mount that is in use for a moment is unmounted. After a second, and after another error, there is
// no more attempt.
func TestRetryInUse(t *testing.T) {
	broken := errors.New("broken")
	for _, test := range []struct {
		name  string
		inUse time.Duration
		after error
		want  error
		took  time.Duration
	}{
		{"free", 0, nil, nil, 0},
		{"in use for a moment", 300 * time.Millisecond, nil, nil, 300 * time.Millisecond},
		{"in use", time.Hour, nil, errInUse, inUseTimeout},
		{"broken", 0, broken, broken, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				err := retryInUse(func() error {
					if time.Since(start) < test.inUse {
						return fmt.Errorf("unmounting /mnt: %w", errInUse)
					}
					return test.after
				})
				if took := time.Since(start); !errors.Is(err, test.want) || err == nil != (test.want == nil) ||
					took != test.took {
					t.Errorf("got %v after %v, want %v after %v", err, took, test.want, test.took)
				}
			})
		})
	}
}
