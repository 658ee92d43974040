#!/bin/sh
# demo.sh PROGRAM shows the main use of wkwfs: it writes a sample dataset, mounts it, reads voxels and unmounts.
set -eu
wkwfs=$(realpath "$1")
work=$(mktemp -d)
mounted=no
finish() {
	cd /
	[ "$mounted" = no ] || "$wkwfs" umount "$work/mnt"
	rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
run() { printf '$ %s\n' "$*"; "$@"; }

say 'A dataset: a compressed image and its segmentation'
run "$wkwfs" sample "$work/sample"

mkdir "$work/mnt"
if [ ! -r /dev/fuse ]; then
	say 'This machine has no /dev/fuse and cannot mount. wkwfs cp writes the same files:'
	run "$wkwfs" cp "$work/sample" color/1/volume.npy "$work/volume.npy"
	exit 0
fi
say 'The mount: each file has decompressed voxels'
run "$wkwfs" mount "$work/sample" "$work/mnt"
mounted=yes
cd "$work/mnt/color/1"
run ls -l .
cube=z1/y2/x2.raw
block=z1/y2/x2.blocks/z0/y1/x1.raw

say 'A block, a cube and the whole layer, read by dd'
printf '$ dd if=%s bs=32k | od -t u1\n' "$block"
dd if="$block" bs=32k status=none | od -A d -t u1 -w16 | sed -n '1,4p'
run dd if="$cube" of=/dev/null bs=1M
run dd if=volume.raw of=/dev/null bs=1M

# The first python of the PATH may be a shim that hides one with numpy.
python=
for candidate in python3 /usr/bin/python3 /usr/local/bin/python3 python; do
	if "$candidate" -c 'import sys, numpy; sys.exit(sys.version_info < (3,))' >/dev/null 2>&1; then
		python=$candidate
		break
	fi
done
if [ -n "$python" ]; then
	say 'The same voxels, read by numpy'
	side=$("$python" -c 'import os, sys; print(round(os.path.getsize(sys.argv[1]) ** (1 / 3)))' "$cube")
	run "$python" - "$cube" "$block" "$side" <<'PYTHON'
import sys, numpy
cube, block, side = sys.argv[1], sys.argv[2], int(sys.argv[3])
voxels = numpy.fromfile(cube, "u1").reshape((side,) * 3, order="F")
print("cube", voxels.shape, "mean", voxels.mean().round(2), "voxels 32…37, 32, 0:", voxels[32:38, 32, 0])
one = numpy.fromfile(block, "u1").reshape((32,) * 3, order="F")
print("block 1,1,0 has the same voxels:", (one == voxels[32:64, 32:64, 0:32]).all())
volume = numpy.load("volume.npy", mmap_mode="r")
print("the whole layer, mapped:", volume.shape, volume.dtype, "voxels 40…45, 60, 50:", volume[40:46, 60, 50])
PYTHON
elif command -v python3 >/dev/null; then
	say 'numpy is left out: python3 does not have it (apt install python3-numpy)'
else
	say 'numpy is left out: there is no python3 (apt install python3-numpy)'
fi

say 'Next steps'
cat <<'END'
  export PATH="$PWD/bin:$PATH"                        # the program is bin/wkwfs
  wkwfs sample ~/sample && mkdir -p ~/mnt && wkwfs mount ~/sample ~/mnt
  ls ~/mnt/color/1                                    # volume.npy .nrrd .nii .tif …, z0/y0/x0.raw
  cp ~/mnt/color/1/box/100-200_100-200_50-60.nrrd .   # any box, in any of these formats
  wkwfs umount ~/mnt
END
