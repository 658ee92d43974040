package vfstest

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// kind is what has an ability.
type kind string

const (
	tree kind = "tree" // a file system, or a source of blocks that is made of files
	file kind = "file" // an open file, or an open cube
	info kind = "info" // an fs.FileInfo
)

// ability is one of what package vfs adds to io/fs, or an optional interface of io/fs.
type ability struct {
	of   kind
	name string // of its method
	use  func(x any) (answer any, ok bool)

	derived bool // the answer of a wrapper depends on that of its inside, but is not the same
}

// String returns the name in [Expect].Has and in the tables of what is not forwarded, such as "file.ReadRanges".
func (a ability) String() string { return string(a.of) + "." + a.name }

// ask makes an ability that is used by a method without effects.
func ask[I any](of kind, name string, answer func(I) any) ability {
	return ability{of: of, name: name, use: func(x any) (any, bool) {
		i, ok := x.(I)
		if !ok {
			return nil, false
		}
		return answer(i), true
	}}
}

// abilities are all abilities. They are used on the file [Name] in [Inside].
var abilities = []ability{
	ask(tree, "Speed", func(x vfs.SpeedReporter) any { return x.Speed() }),
	ask(tree, "ChecksKind", func(x vfs.KindChecker) any { return x.ChecksKind() }),
	ask(tree, "Stat", func(x fs.StatFS) any { return sizeOf(x.Stat(Name)) }),
	ask(tree, "Lstat", func(x fs.ReadLinkFS) any { return sizeOf(x.Lstat(Name)) }),
	ask(tree, "ReadDir", func(x fs.ReadDirFS) any { return namesOf(x.ReadDir(".")) }),
	ask(tree, "List", func(x vfs.ListFS) any { return firstBatch(x.List(".")) }),
	ask(tree, "Describe", func(x vfs.DescribeFS) any { return firstBatch(x.Describe(".", everyName)) }),

	ask(file, "Speed", func(x vfs.SpeedReporter) any { return x.Speed() }),
	ask(file, "ReadAtContext", cancelRead),
	ask(file, "ReadRanges", func(x vfs.RangeReader) any { return readRanges(x.ReadRanges) }),
	ask(file, "ReadParts", func(x vfs.ObjectFile) any {
		return readRanges(func(ctx context.Context, r []vfs.Range) { r[0].Err = x.ReadParts(ctx, r) })
	}),
	ask(file, "ReadCached", func(x vfs.ObjectFile) any { return x.ReadCached(make([]byte, 1), 0) }),
	ask(file, "WillNeed", func(x vfs.Advisor) any { x.WillNeed(0, 1); return nil }),
	ask(file, "SeekData", func(x vfs.HoleSeeker) any { off, err := x.SeekData(0); return fmt.Sprint(off, err) }),
	ask(file, "SeekHole", func(x vfs.HoleSeeker) any { off, err := x.SeekHole(0); return fmt.Sprint(off, err) }),
	ask(file, "ReadOnce", func(x vfs.Pusher) any { return x.ReadOnce() }),
	ask(file, "Push", func(x vfs.Pusher) any { x.Push(vfs.Sink{}); return nil }),
	ask(file, "Seek", func(x io.Seeker) any { off, err := x.Seek(0, io.SeekCurrent); return fmt.Sprint(off, err) }),

	ask(file, "WriteAtContext", func(x vfs.Writer) any { return x.WriteAtContext(context.Background(), []byte{0}, 0) }),
	ask(file, "Sync", func(x vfs.Writer) any { return x.Sync(context.Background()) }),

	{of: info, name: "Version", derived: true,
		use: detail(func(d vfs.Details) func() vfs.Version { return d.Version })},
	{of: info, name: "Stored", use: detail(func(d vfs.Details) func() int64 { return d.Stored })},
	{of: info, name: "Source", use: func(x any) (any, bool) {
		source := vfs.DetailsOf(x.(fs.FileInfo)).Source
		if source == nil {
			return nil, false
		}
		return source.Name(), true
	}},
	{of: info, name: "Attributes", use: detail(func(d vfs.Details) func() map[string]string { return d.Attributes })},
	{of: info, name: "Live", use: func(x any) (any, bool) { return vfs.DetailsOf(x.(fs.FileInfo)).Live, true }},
	{of: info, name: "Writable", use: func(x any) (any, bool) { return vfs.DetailsOf(x.(fs.FileInfo)).Writable, true }},
}

// detail returns a use of one of the details of a file.
func detail[T any](of func(vfs.Details) func() T) func(x any) (any, bool) {
	return func(x any) (any, bool) {
		answer := of(vfs.DetailsOf(x.(fs.FileInfo)))
		if answer == nil {
			return nil, false
		}
		return answer(), true
	}
}

// cancelKey is the key of a context whose value cancels it: the file inside calls it when the read has arrived.
type cancelKey struct{}

// cancelRead returns the class of the error of a read that is canceled when it has reached the file inside.
func cancelRead(x vfs.ContextReaderAt) any {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	_, err := x.ReadAtContext(context.WithValue(ctx, cancelKey{}, cancel), make([]byte, 1), 0)
	if err == nil {
		return "not canceled"
	}
	return vfs.Classify(err)
}

// readRanges returns the error of a range. Its bytes are not compared: they may lie elsewhere in the file inside.
func readRanges(read func(context.Context, []vfs.Range)) any {
	r := []vfs.Range{{Off: 0, P: make([]byte, 1)}}
	read(context.Background(), r)
	return r[0].Err
}

func sizeOf(i fs.FileInfo, err error) any {
	if err != nil {
		return err.Error()
	}
	return i.Size()
}

func namesOf[E interface{ Name() string }](entries []E, err error) any {
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return fmt.Sprint(strings.Join(names, " "), err)
}

func firstBatch[E interface{ Name() string }](batches func(func([]E, error) bool)) any {
	for batch, err := range batches {
		return namesOf(batch, err)
	}
	return nil
}

func everyName(string) bool { return true }
