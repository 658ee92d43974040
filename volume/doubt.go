package volume

// Doubter is a Dataset, a Layer or a Mag that can do without some of its metadata, and
// can tell what is wrong with it.
type Doubter interface {
	// Doubts looks at the metadata anew. An error that is fs.ErrNotExist says that
	// something which should be there is missing; others, that it is damaged.
	Doubts() []error
}
