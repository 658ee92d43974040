//go:build linux

package fsnode_test

import (
	"fmt"
	"io/fs"
	"log"
	"testing/fstest"

	"github.com/wkwfs/wkwfs/fsnode"
)

// Serve a file system in memory until it is unmounted. This needs /dev/fuse.
func ExampleMount() {
	memory := fstest.MapFS{
		"hello.txt": {Data: []byte("hello, world\n"), Mode: 0o444},
	}
	server, err := fsnode.Mount("/mnt/memory", memory, fsnode.Options{Source: "memory"})
	if err != nil {
		log.Fatal(err)
	}
	server.Wait()
}

// A file system may give its files versions of its own, for example from an ETag. Then a file keeps its page
// cache while the version is the same, whatever its time is.
func ExampleDetailedInfo() {
	var info fs.FileInfo = taggedInfo{etag: "33a64df551425fcc"}
	fmt.Printf("%s\n", info.(fsnode.DetailedInfo).Details().Version())
	// Output: 33a64df551425fcc
}

type taggedInfo struct {
	fs.FileInfo
	etag string
}

func (t taggedInfo) Details() fsnode.Details { return fsnode.Details{Version: t.version} }

func (t taggedInfo) version() (v fsnode.Version) {
	copy(v[:], t.etag)
	return v
}
