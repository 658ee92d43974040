package importer

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/small/jsonlimit"
	"github.com/wkwfs/wkwfs/internal/tests/voxeltest"
	"github.com/wkwfs/wkwfs/webknossos"
)

// TestManyFields: metadata of more fields than any real dataset has is refused.
func TestManyFields(t *testing.T) {
	dir := voxeltest.TempDir(t)
	write(t, filepath.Join(dir, webknossos.PropertiesFile), []byte("{"+strings.Repeat(`"a":1,`, maxFields)+`"b":2}`))
	_, err := readMetadata(dir)
	if want := (&jsonlimit.TooManyError{Limit: maxFields, What: "members of an object"}).Error(); err == nil ||
		!strings.HasSuffix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}
