package refdata

// ComposedManifest is manifest.json of annotations and of mappings. The README.md beside it explains the fields.
type ComposedManifest struct {
	Cases []Composed
}

// Composed is a source, what is laid over it, and what it must show.
type Composed struct {
	Name, Mount string
	Over        *string
	Flags       []string
	Expect      string   // ok, refused or error
	Optional    bool     // it may be refused
	Absent      []string // layers that must not be shown, or that cannot be read
	Volumes     []ComposedVolume
}

// ComposedVolume is a volume of a source. Sizes and positions are x, y, z, in voxels of the mag.
type ComposedVolume struct {
	Layer, Mag   string
	DType        string
	Size         [3]int
	Offset       [3]int
	VoxelSize    *[3]float64 `json:"voxel_size"` // in nm
	Bytes        int64
	SHA256       string
	SHA256Uint64 string `json:"sha256_uint64"`
	Part         any    // it is too large to be compared as a whole
	Box          string // that is compared instead: x0-x1_y0-y1_z0-z1
	Optional     bool
	Readable     bool
	Time         *int
	Voxels       []Voxel
	Note         string
}
