package volume

// MetadataChecker is a Dataset, a Layer or a Mag that can do without some of its metadata.
type MetadataChecker interface {
	// CheckMetadata reads the metadata again and returns all that is wrong with it. An error that is
	// fs.ErrNotExist is about a file that should exist. Other errors are about damage.
	CheckMetadata() []error
}

// Omission is something in a source that the catalogue leaves out, and why.
type Omission struct {
	Name, Reason string
	Fault        bool // it exists and cannot be read, such as a file in the place of a directory
}

// Omitter is a Dataset or a Layer that knows what it leaves out.
type Omitter interface {
	Omitted() []Omission
}
