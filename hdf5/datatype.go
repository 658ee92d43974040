package hdf5

// Class is the class of a datatype (IV.A.2.d).
type Class uint8

// The classes of the specification.
const (
	ClassInteger   Class = 0
	ClassFloat     Class = 1
	ClassTime      Class = 2
	ClassString    Class = 3
	ClassBitField  Class = 4
	ClassOpaque    Class = 5
	ClassCompound  Class = 6
	ClassReference Class = 7
	ClassEnum      Class = 8
	ClassVariable  Class = 9
	ClassArray     Class = 10
	ClassComplex   Class = 11
)

// Padding says how a string of fixed length ends.
type Padding uint8

// The kinds of padding.
const (
	PadTerminated Padding = 0 // a zero byte ends it
	PadZeros      Padding = 1 // zero bytes fill it
	PadSpaces     Padding = 2 // spaces fill it
)

// Datatype says what a value is.
type Datatype struct {
	Class     Class
	Size      int  // bytes of a value
	Signed    bool // integers, and enumerations of them
	BigEndian bool // numbers

	// Precision bits from bit Offset have an integer, a bit field or a float. All other bits mean nothing.
	Precision, Offset int

	// IEEE reports whether a float has exactly the fields of IEEE 754 of its size: 2, 4 or 8 bytes.
	IEEE bool

	Padding Padding // strings
	UTF8    bool    // strings: else ASCII
	Tag     string  // opaque

	Base    *Datatype // of enumerations, arrays, variable lengths and complex numbers
	Members []Member  // of an enumeration: with Value; of a compound: with Type and Offset
	Dims    []uint64  // of an array

	IsString  bool  // variable length: a string
	Reference uint8 // kind of a reference: 0 an object, 1 a region of a dataset, others are newer
}

// Member is a member of an enumeration or of a compound.
type Member struct {
	Name   string
	Value  []byte    // of an enumeration: in the bytes of its base
	Type   *Datatype // of a compound
	Offset int       // of a compound: of its first byte in a value
}
