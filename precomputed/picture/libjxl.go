package picture

import (
	"bytes"
	"compress/gzip"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"sync"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

// libjxlProgram is libjxl as WebAssembly, compressed. libjxl/README.md has its origin.
//
//go:embed libjxl/decode.wasm.gz
var libjxlProgram []byte

// libjxl is the compiled program with a memory limit.
type libjxl struct {
	runtime wazero.Runtime
	program wazero.CompiledModule
	limit   int // in bytes
}

// libjxls has the program with limits for up to 2^(16+i) pixels. The first picture compiles it, once for all limits.
var (
	libjxls        [maxPixelBits - minPixelBits + 1]func() (*libjxl, error)
	libjxlCompiled = wazero.NewCompilationCache()
)

const minPixelBits, maxPixelBits = 16, 22

func init() {
	for i := range libjxls {
		libjxls[i] = sync.OnceValues(func() (*libjxl,
			error) {
			return loadLibjxl(libjxlLimit(1 << (minPixelBits + i)))
		})
	}
}

// pixelBits returns the logarithm of a number of pixels, within those of the limits.
func pixelBits(pixels int) int {
	return min(max(bits.Len(uint(pixels-1)), minPixelBits), maxPixelBits)
}

// libjxlLimit returns a limit of memory that is enough for a number of pixels. In measurements libjxl took up to 100
// bytes per pixel, with four channels of 8 bits.
func libjxlLimit(pixels int) int { return min(16<<20+256<<pixelBits(pixels), 1<<30) }

// libjxlFor returns the program with the limit for a number of pixels.
func libjxlFor(pixels int) (*libjxl, error) { return libjxls[pixelBits(pixels)-minPixelBits]() }

// loadLibjxl compiles the program with a memory limit in bytes.
func loadLibjxl(limit int) (*libjxl, error) {
	unpacked, err := gzip.NewReader(bytes.NewReader(libjxlProgram))
	if err != nil {
		return nil, err
	}
	program, err := io.ReadAll(unpacked)
	if err != nil {
		return nil, err
	}
	const page = 64 << 10
	ctx := context.Background()
	config := wazero.NewRuntimeConfig().WithMemoryLimitPages(uint32(limit / page)).WithCompilationCache(libjxlCompiled)
	l := &libjxl{runtime: wazero.NewRuntimeWithConfig(ctx, config), limit: limit}
	// The C library imports file functions. The program has no files.
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, l.runtime); err != nil {
		return nil, err
	}
	l.program, err = l.runtime.CompileModule(ctx, program)
	return l, err
}

var errLibjxl = errors.New("damaged, or needs more memory than the limit of the decoder")

// decode decodes a picture to RGBA, with 8 bits or 16 bits big-endian per sample. Each call has its own instance of
// the program, so no state remains after it.
func (l *libjxl) decode(data []byte, h jxlHeader) ([]byte, error) {
	ctx := context.Background()
	program, err := l.runtime.InstantiateModule(ctx, l.program,
		wazero.NewModuleConfig().WithName("").WithStartFunctions("_initialize"))
	if err != nil {
		return nil, err
	}
	defer program.Close(ctx)

	out := h.width * h.height * 4 * h.bits / 8
	if out > l.limit || len(data) > l.limit {
		return nil, errLibjxl
	}
	at, err := allocate(ctx, program, len(data), 5*4, out)
	if err != nil {
		return nil, err
	}
	in, info, pixels := at[0], at[1], at[2]
	memory := program.Memory()
	if !memory.Write(uint32(in), data) {
		return nil, errLibjxl
	}
	// decode(data, length, header only, all frames, *width, *height, *bits, *frames, *delays, pixels)
	ok, err := program.ExportedFunction("decode").Call(ctx, in, uint64(len(data)), 0, 0, info, info+4, info+8, info+12,
		info+16, pixels)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errLibjxl, err)
	}
	width, _ := memory.ReadUint32Le(uint32(info))
	height, _ := memory.ReadUint32Le(uint32(info) + 4)
	bits, _ := memory.ReadUint32Le(uint32(info) + 8)
	rgba, inside := memory.Read(uint32(pixels), uint32(out))
	if ok[0] != 1 || !inside || int(width) != h.width || int(height) != h.height || int(bits) != h.bits {
		return nil, errLibjxl
	}
	return bytes.Clone(rgba), nil
}

// allocate allocates memory in the program: one piece for each size, in bytes. It returns their addresses.
func allocate(ctx context.Context, program api.Module, sizes ...int) ([]uint64, error) {
	var at []uint64
	for _, size := range sizes {
		p, err := program.ExportedFunction("malloc").Call(ctx, uint64(size))
		if err != nil || p[0] == 0 {
			return nil, errLibjxl
		}
		at = append(at, p[0])
	}
	return at, nil
}
