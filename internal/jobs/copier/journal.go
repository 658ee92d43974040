package copier

import (
	"bytes"
	"encoding/json"
	"io"
	"os"

	"github.com/wkwfs/wkwfs/internal/small/span"
)

// journal is the file beside a part that records its progress. It holds one record.
type journal struct{ file *os.File }

type record struct {
	Version string `json:"version"` // of the source
	Size    int64  `json:"size"`    // of the source, in bytes
	Range   int64  `json:"range"`   // size of a range, in bytes
	Done    int64  `json:"done"`    // ranges 0 to Done-1 are on disk
}

// recordSize is the length of every record in bytes. A new record overwrites the old one in one write, which needs no
// space on a full disk.
const recordSize = 256

func openJournal(dst *os.Root, name string) (*journal, error) {
	f, err := dst.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666)
	return &journal{f}, destination(err)
}

// load returns the record of an earlier copy, or a zero record if it does not fit the part. The record can be resumed
// if it describes the same source as now, which has no range done.
func (j *journal) load(now record, part *os.File) (old record, resumable bool) {
	b, err := io.ReadAll(io.NewSectionReader(j.file, 0, recordSize))
	if err != nil || json.Unmarshal(b, &old) != nil || old.Done < 0 ||
		old.Done > span.New(0, old.Size).Pieces(now.Range) {
		return record{}, false
	}
	info, err := part.Stat()
	if err != nil || info.Size() != old.Size {
		return record{}, false
	}
	now.Done = old.Done
	return old, old == now
}

func (j *journal) write(r record) error {
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	b = append(b, bytes.Repeat([]byte(" "), recordSize-1-len(b))...)
	_, err = j.file.WriteAt(append(b, '\n'), 0)
	return destination(err)
}
