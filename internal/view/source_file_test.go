package view

import (
	"testing"

	"github.com/wkwfs/wkwfs/internal/vfstest"
)

// TestSourceFileForwards: an open file of the source, which is shown as it is, can be cancelled.
func TestSourceFileForwards(t *testing.T) {
	const server = "no server asks for it: the file is one of metadata, which is small"
	i := vfstest.NewInside([]byte("metadata"))
	f, err := sourceFile{i, vfstest.Name}.open()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	vfstest.ForwardsFile(t, i, f, vfstest.Reasons{
		"file.Late": server, "file.Near": server, "file.AnswersAtOnce": server, "file.LongRead": server,
		"file.ReadRanges": server, "file.ReadParts": server, "file.ReadCached": server, "file.Lend": server, "file.WillNeed": server,
		"file.SeekData": server, "file.SeekHole": server, "file.ReadOnce": server, "file.Push": server, "file.Seek": server,
	})
}
