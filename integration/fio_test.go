//go:build clients

package integration

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// fioVolume is the layer that fio writes: 2³ cubes of 128³ bytes.
var fioVolume = layer{
	model: model{blockLog: 5, cubeLog: 2, blockType: 2, voxelType: 1, channels: 1},
	size:  [3]int{256, 256, 256},
	cubes: map[[3]int]bool{},
}

// fioPiece is the length in bytes of a piece. fio writes checksum, offset and number at its start.
const fioPiece = 4096

// TestClientFio lets fio write a flat file whose pieces contain their own offsets. It imports the file as cubes
// and lets fio verify the mounted volume, with the engines and patterns that programs use.
func TestClientFio(t *testing.T) {
	flat := filepath.Join(tempDir(t), "flat")
	if r := fio(t, flat, "--rw=write", "--do_verify=0", "--ioengine=psync"); r.code != 0 {
		t.Fatalf("fio cannot write: %s", r.stderr)
	}
	voxels, err := os.ReadFile(flat)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(mount(t, importFlat(t, voxels), "--cache-size", "4MiB"), "color/1/volume.raw")
	for _, engine := range []struct {
		name   string
		direct []int
		depth  int
	}{
		{"sync", []int{0, 1}, 1},
		{"mmap", []int{0}, 1},
		{"libaio", []int{0, 1}, 16},
		{"io_uring", []int{0, 1}, 16},
	} {
		if engineRefused(t, engine.name, flat) {
			continue
		}
		for _, direct := range engine.direct {
			for _, pattern := range []string{"read", "randread"} {
				for _, size := range []string{"4k-4k", "4k-512k"} {
					t.Run(fmt.Sprintf("%s/direct=%d/%s/%s", engine.name, direct, pattern, size), func(t *testing.T) {
						r := fio(t, name, "--readonly", "--ioengine="+engine.name, fmt.Sprintf("--direct=%d", direct),
							"--rw="+pattern, "--bsrange="+size, fmt.Sprintf("--iodepth=%d", engine.depth))
						if r.code != 0 {
							t.Errorf("fio: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
						}
					})
				}
			}
		}
	}
	t.Run("a wrong byte", func(t *testing.T) {
		voxels[len(voxels)/2+100] ^= 1
		name := filepath.Join(mount(t, importFlat(t, voxels)), "color/1/volume.raw")
		for _, pattern := range []string{"read", "randread"} {
			if r := fio(t, name, "--readonly", "--ioengine=sync", "--rw="+pattern, "--bsrange=4k-512k"); r.code == 0 {
				t.Errorf("%s: fio did not find the wrong byte", pattern)
			}
		}
	})
}

// fio runs fio on a file of the size of the volume, in a temporary directory.
func fio(t *testing.T, name string, args ...string) result {
	t.Helper()
	program, err := exec.LookPath("fio")
	if err != nil {
		t.Fatal(err) // clients/install.sh installs it
	}
	size := fioVolume.size[0] * fioVolume.size[1] * fioVolume.size[2]
	cmd := exec.Command(program, append([]string{
		"--name=volume", "--filename=" + name, fmt.Sprintf("--size=%d", size), "--bs=4k", "--minimal",
		"--allow_file_create=" + map[bool]string{true: "1", false: "0"}[!strings.Contains(name, "volume.raw")],
		"--verify=crc32c", fmt.Sprintf("--verify_interval=%d", fioPiece), "--verify_fatal=1", "--verify_state_save=0",
	}, args...)...)
	cmd.Dir = tempDir(t)
	return runCommand(t, cmd)
}

// engineRefused reports whether the kernel does not permit the engine, and logs it.
func engineRefused(t *testing.T, engine, flat string) bool {
	t.Helper()
	r := fio(t, flat, "--readonly", "--ioengine="+engine, "--rw=read")
	if r.code == 0 {
		return false
	}
	for _, reason := range []string{"not permitted", "not implemented", "not supported"} {
		if strings.Contains(r.stdout+r.stderr, reason) {
			t.Logf("not tested: the kernel refuses %s: %s%s", engine, r.stdout, r.stderr)
			return true
		}
	}
	t.Errorf("fio cannot use %s: %s%s", engine, r.stdout, r.stderr)
	return true
}

// importFlat writes a dataset of the flat voxels.
func importFlat(t *testing.T, voxels []byte) (source string) {
	t.Helper()
	source = tempDir(t)
	n, side := fioVolume.size[0]/fioVolume.side(), fioVolume.side()
	for i := range n * n * n {
		x, y, z := i%n, i/n%n, i/n/n
		name := fmt.Sprintf("color/1/z%d/y%d/x%d.wkw", z, y, x)
		writeFile(t, filepath.Join(source, name), importCube(t, voxels, [3]int{x * side, y * side, z * side}))
	}
	return source
}

// importCube returns the cube file of the voxels at x, y, z.
func importCube(t *testing.T, voxels []byte, at [3]int) []byte {
	n, side := 1<<(3*fioVolume.cubeLog), 1<<fioVolume.blockLog
	start := 16 + 8*n
	table, data := fioVolume.header(start), []byte{}
	for i := range n {
		bx, by, bz := unmorton(i)
		var block []byte
		for row := range side * side {
			y, z := at[1]+by*side+row%side, at[2]+bz*side+row/side
			start := (z*fioVolume.size[1]+y)*fioVolume.size[0] + at[0] + bx*side
			block = append(block, voxels[start:start+side]...)
		}
		data = append(data, compress(t, block, false)...)
		table = binary.LittleEndian.AppendUint64(table, uint64(start+len(data)))
	}
	return append(table, data...)
}
