package lockfile

import "testing"

func TestLocalLocks(t *testing.T) {
	for options, want := range map[string]bool{
		"rw,relatime,vers=4.2,local_lock=none":        false,
		"rw,relatime,vers=3,nolock,local_lock=all":    true,
		"rw,vers=3,local_lock=flock,addr=10.0.0.1":    true,
		"rw,vers=3,local_lock=posix":                  false, // flock reaches the server
		"rw,flock,lazystatfs":                         false,
		"rw,localflock,lazystatfs":                    true,
		"rw,vers=3.1.1,cache=strict,nobrl,rsize=4096": true,
	} {
		if got := hasLocalLocks("rw", options); got != want {
			t.Errorf("%s: got %v, want %v", options, got, want)
		}
	}
}
