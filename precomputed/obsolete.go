package precomputed

import (
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// An earlier version of the sharded format has two files for each shard, N.index with the shard index and N.data with
// the rest. N.shard of the current version is both, one after the other. The info files of both versions are the same.
const (
	obsoleteSuffix     = ".index"
	obsoleteDataSuffix = ".data"
)

// maxProbed limits how many entries of a directory are searched for obsolete shards. A writer uses one version for all
// shards.
const maxProbed = 1000

// checkVersion returns an error if the directory of a sharded scale has a shard of the obsolete version. A shard that
// exists in both versions is fine. A directory that cannot be read is no error here, because chunks are looked up when
// they are read.
func (s *sharding) checkVersion(fsys fs.FS, dir string) error {
	entries := firstEntries(fsys, dir, maxProbed)
	for _, e := range entries {
		stem, ok := strings.CutSuffix(e.Name(), obsoleteSuffix)
		if !ok {
			continue
		}
		if _, ok := s.parseStem(stem); !ok {
			continue
		}
		if _, err := fs.Lstat(fsys, path.Join(dir, stem+shardSuffix)); err == nil {
			continue
		}
		return fmt.Errorf("%s: shards in two files are obsolete and not read; make one file of them: cat %s %s > %s",
			path.Join(dir, e.Name()), e.Name(), stem+obsoleteDataSuffix, stem+shardSuffix)
	}
	return nil
}

// firstEntries returns up to n entries of a directory, in the order of the listing.
func firstEntries(fsys fs.FS, dir string, n int) []fs.DirEntry {
	for entries := range vfs.ListDir(fsys, dir) {
		return entries[:min(n, len(entries))] // entries before an error count
	}
	return nil
}
