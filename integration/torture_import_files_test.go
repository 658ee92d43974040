package integration

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
)

// hostileValueText returns a value for a field of a header that is text.
func hostileValueText(r *rand.Rand, usual string) string {
	switch r.IntN(12) {
	case 0:
		return fmt.Sprint(randomOf(r, hostileNumbers))
	case 1:
		return randomOf(r, hostileStrings)
	case 2:
		return strings.ReplaceAll(usual, "6", fmt.Sprint(randomOf(r, hostileNumbers)))
	case 3:
		return strings.Repeat(usual+" ", 1+r.IntN(50))
	}
	return usual
}

// hostileHeader returns hostileValueText for the fields of a header. Half of the headers say what is usual.
func hostileHeader(r *rand.Rand) func(usual string) string {
	if r.IntN(2) == 0 {
		return func(usual string) string { return usual }
	}
	return func(usual string) string { return hostileValueText(r, usual) }
}

// hostileType is the name of a type in a header, and the bytes of a voxel.
type hostileType struct {
	name string
	size int
}

// voxels returns as many bytes as the volume has.
func (t hostileType) voxels(all []byte) []byte { return all[:importSide*importSide*importSide*t.size] }

func hostileNRRD(r *rand.Rand, voxels []byte) hostileFile {
	typ := randomOf(r, []hostileType{{"uint8", 1}, {"uint16", 2}, {"float", 4}, {"int32", 4}})
	value, voxels := hostileHeader(r), typ.voxels(voxels)
	fields := [][2]string{
		{"type", typ.name}, {"dimension", "3"}, {"sizes", "6 6 6"},
		{"encoding", randomOf(r, []string{"raw", "gzip", "ascii"})}, {"endian", "little"},
		{"space dimension", "3"}, {"space directions", "(4,0,0) (0,4,0) (0,0,40)"}, {"space origin", "(0,0,0)"},
		{"line skip", "0"}, {"byte skip", "0"}, {"data file", "LIST"}, {"kinds", "domain domain domain"},
	}
	text := "NRRD0004\n"
	for n, f := range fields {
		if n >= 5 && r.IntN(3) > 0 || r.IntN(15) == 0 {
			continue // those are optional, or this one is missing
		}
		text += f[0] + ": " + value(f[1]) + "\n"
	}
	b := append([]byte(text+"\n"), voxels...)
	return hostileFile{Path: "volume.nrrd", Bytes: b, Edits: rarely(r, hostileEdits(r, len(text))),
		Cut: hostileCut(r, len(b))}
}

func rarely(r *rand.Rand, edits []hostileEdit) []hostileEdit {
	if r.IntN(4) > 0 {
		return nil
	}
	return edits
}

func hostileNPY(r *rand.Rand, voxels []byte) hostileFile {
	head := fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': (%s), }",
		hostileValueText(r, randomOf(r, []string{"|u1", "<u2", ">u4", "<f4"})),
		hostileValueText(r, randomOf(r, []string{"True", "False"})), hostileValueText(r, "6, 6, 6"))
	head += strings.Repeat(" ", (64-(len(head)+11)%64)%64) + "\n"
	b := binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(head)))
	b = append(append(b, head...), voxels...)
	return hostileFile{Path: "volume.npy", Bytes: b, Edits: rarely(r, hostileEdits(r, 12)), Cut: hostileCut(r, len(b))}
}

func hostileNIfTI(r *rand.Rand, voxels []byte) hostileFile {
	b := make([]byte, 352)
	binary.LittleEndian.PutUint32(b, 348)
	for i, n := range []uint16{3, 6, 6, 6, 1, 1, 1, 1} {
		binary.LittleEndian.PutUint16(b[40+2*i:], n)
	}
	binary.LittleEndian.PutUint16(b[70:], randomOf(r, []uint16{2, 4, 8, 16, 512}))
	binary.LittleEndian.PutUint16(b[72:], randomOf(r, []uint16{8, 16, 32}))
	for i := range 4 {
		binary.LittleEndian.PutUint32(b[76+4*i:], 0x3f800000) // 1
	}
	binary.LittleEndian.PutUint32(b[108:], 0x43b00000) // 352
	copy(b[344:], "n+1")
	return packed(r, "volume.nii", append(b, voxels...), hostileEdits(r, 352))
}

func hostileTIFF(r *rand.Rand, voxels []byte) hostileFile {
	var order binary.AppendByteOrder = binary.LittleEndian
	b := []byte("II*\x00")
	if r.IntN(2) == 0 {
		order, b = binary.BigEndian, []byte("MM\x00*")
	}
	const pages, plane = 3, importSide * importSide
	b = order.AppendUint32(b, uint32(8+pages*plane))
	b = append(b, voxels[:pages*plane]...)
	for page := range pages {
		tags := [][4]uint32{
			{256, 4, 1, importSide}, {257, 4, 1, importSide}, {258, 3, 1, 8},
			{259, 3, 1, randomOf(r, []uint32{1, 1, 5, 8, 32773})}, {262, 3, 1, 1},
			{273, 4, 1, uint32(8 + page*plane)}, {277, 3, 1, 1}, {278, 4, 1, importSide}, {279, 4, 1, plane},
			{317, 3, 1, randomOf(r, []uint32{1, 1, 2, 3})},
		}
		b = order.AppendUint16(b, uint16(len(tags)))
		for _, tag := range tags {
			b = order.AppendUint32(order.AppendUint16(order.AppendUint16(b, uint16(tag[0])), uint16(tag[1])), tag[2])
			if tag[1] == 3 {
				b = order.AppendUint16(order.AppendUint16(b, uint16(tag[3])), 0)
			} else {
				b = order.AppendUint32(b, tag[3])
			}
		}
		next := uint32(0)
		if page < pages-1 {
			next = uint32(len(b) + 4)
		}
		b = order.AppendUint32(b, next)
	}
	f := hostileFile{Path: "volume.tif", Bytes: b, Cut: hostileCut(r, len(b))}
	for _, e := range hostileEdits(r, len(b)) {
		e.At = r.IntN(len(b))
		f.Edits = append(f.Edits, e)
	}
	if r.IntN(4) == 0 && bytes.HasPrefix(b, []byte("II")) { // a page that is its own next one
		f.Edits = append(f.Edits, hostileEdit{At: len(b) - 4, Put: []byte{8 + pages*plane, 0, 0, 0}})
	}
	return f
}

func hostileMetaImage(r *rand.Rand, voxels []byte) hostileFile {
	typ := randomOf(r, []hostileType{{"MET_UCHAR", 1}, {"MET_SHORT", 2}, {"MET_FLOAT", 4}, {"MET_LONG", 4}})
	value, voxels := hostileHeader(r), typ.voxels(voxels)
	fields := [][2]string{
		{"ObjectType", "Image"}, {"NDims", "3"}, {"DimSize", "6 6 6"}, {"ElementType", typ.name},
		{"BinaryDataByteOrderMSB", randomOf(r, []string{"True", "False"})}, {"ElementSpacing", "4 4 40"},
		{"Offset", "0 0 0"}, {"TransformMatrix", "1 0 0 0 1 0 0 0 1"},
		{"ElementNumberOfChannels", "1"}, {"HeaderSize", "-1"}, {"CompressedData", "True"},
		{"CompressedDataSize", "60"}, {"DistanceUnits", "um"},
	}
	text := ""
	for n, f := range fields {
		if n >= 4 && r.IntN(3) > 0 || r.IntN(20) == 0 {
			continue // those are optional, or this one is missing
		}
		text += f[0] + " = " + value(f[1]) + "\n"
	}
	text += "ElementDataFile = " + randomOf(r, []string{"LOCAL", "LOCAL", "LOCAL", "LIST", "volume.mha",
		"../volume.raw", "%03d.raw 1 6 1"}) + "\n"
	b := append([]byte(text), voxels...)
	return hostileFile{Path: "volume.mha", Bytes: b, Edits: rarely(r, hostileEdits(r, len(text))),
		Cut: hostileCut(r, len(b))}
}

func hostileMRC(r *rand.Rand, voxels []byte) hostileFile {
	var order binary.ByteOrder = binary.LittleEndian
	b := make([]byte, 1024)
	copy(b[208:], "MAP DD")
	if r.IntN(2) == 0 {
		order = binary.BigEndian
		copy(b[212:], "\x11\x11")
	}
	typ := randomOf(r, []hostileType{{"0", 1}, {"1", 2}, {"2", 4}, {"6", 2}, {"12", 2}, {"16", 3}})
	mode, _ := strconv.Atoi(typ.name) // it is a number
	numbers := map[int]uint32{
		0: importSide, 4: importSide, 8: importSide, 12: uint32(mode),
		28: importSide, 32: importSide, 36: importSide, 64: 1, 68: 2, 72: 3,
	}
	if r.IntN(4) == 0 {
		numbers[92] = randomOf(r, []uint32{16, 1 << 20, 1 << 31, math.MaxUint32})
	}
	for at, n := range numbers {
		order.PutUint32(b[at:], n)
	}
	for axis := range 3 {
		order.PutUint32(b[40+4*axis:], math.Float32bits(240)) // Å
	}
	return packed(r, "volume.mrc", append(b, typ.voxels(voxels)...), hostileEdits(r, 224))
}

// packed returns a file, which is compressed by gzip in some cases. Edits are those of the file, or of its compressed
// bytes.
func packed(r *rand.Rand, name string, b []byte, edits []hostileEdit) hostileFile {
	if r.IntN(4) == 0 {
		var z bytes.Buffer
		w := gzip.NewWriter(&z)
		w.Write(hostileFile{Edits: edits}.edited(b)) // memory takes all
		w.Close()
		name, b, edits = name+".gz", z.Bytes(), rarely(r, hostileEdits(r, z.Len()))
	}
	return hostileFile{Path: name, Bytes: b, Edits: edits, Cut: hostileCut(r, len(b))}
}
