package codec

import (
	"encoding/binary"
	"encoding/hex"
	"testing"
)

// Streams that libbzip2 wrote: the values 1000, 1005, 1010 … 1495 as 32 bits, little-endian, whole and as two streams;
// and a million zeros.
const (
	bzip2Words = "425a68393141592653591f97cb7e0000c3ffffef18c6318c6318c6318c6318c6318c6318c6318c6318c6318c6318c210c6318c3000b9b0" +
		"a900069a000d01a000000d0681a001a69a69a698085221a01a01a3434d0001a0d00068000640c80193439ffeaaa6a640c400309a000001" +
		"89a0d001a06832000104112c200000000000000000000008508800581004000abebe27f9564cdab670e9e3d260145c48d2254c9d428d33" +
		"6b58b572f60c38f2e7d3af6ef40a2cc34e3d04524d4556c3907cb9b3e8234ead7b3693bb7f0e3cb9f4ebdbbf82bc97e8cf66fc3be9ff90" +
		"4524d4556a800800005fc5dc914e142407e5f2df80"
	bzip2Streams = "425a683131415926535982e9457600002fff01ed0842108421084210842108400000421084200021294d340d1a0c9a669a851a1a000001" +
		"d88218038411acb76d7686fc479ebbf253f69f56cb765013f17724538509082e945760425a6839314159265359546c605f00007b7fffc6" +
		"108421084210842108421086318c6318c6318c6318c6318c6318c2108421082000741a920000001a69a69a69a7a9a69a69a69a69a69a69" +
		"81a863fd54468320d341a6993434068001a0d1a000049045141200000000000000000000038e0050210100365cfa4f4114935152acbb0c" +
		"b4db8ebcfc10c51c92cd3990476a5b93dea705789792dcd7e8c7564cd776fc39e5df4f7b7fe41f61fd14724b34e62820201fc5dc914e14" +
		"24151b1817c0"
	bzip2Zeros = "425a683931415926535979d39e480007a8c040c00000020008200030cc09aa69952436a9490f17724538509079d39e48"
)

func bzip2Samples() []sample {
	var words []byte
	for v := uint32(1000); v < 1500; v += 5 {
		words = binary.LittleEndian.AppendUint32(words, v)
	}
	var all []sample
	for _, c := range []struct {
		name, stored string
		decoded      []byte
		pieces       bool
	}{
		{"bzip2", bzip2Words, words, false},
		{"bzip2 streams", bzip2Streams, words, true},
		{"bzip2 zeros", bzip2Zeros, make([]byte, 1_000_000), false},
	} {
		stored, err := hex.DecodeString(c.stored)
		if err != nil {
			panic(err)
		}
		all = append(all, sample{name: c.name, codec: Bzip2{}, decoded: c.decoded, stored: stored, pieces: c.pieces})
	}
	return all
}

func FuzzBzip2(f *testing.F) { fuzz(f, Bzip2{}, bzip2Samples()) }
