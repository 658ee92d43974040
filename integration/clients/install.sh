#!/bin/sh
# Installs the programs of the client tests from Debian. Needs root, unless they are
# installed.
set -eu

# numpy, nibabel, tifffile, mrcfile, liblz4, numcodecs with c-blosc; zarr, xarray, dask, HTTP for them, NCZarr; Octave (45 MB) in place of MATLAB; Teem; h5repack and h5py; ParaView
# and its VTK; ImageJ; libtiff and GDAL; ITK; fio;
# libnfs' programs, and QEMU's with its driver of NFS; podman, also for users without privileges; Slurm.
packages='python3-numpy python3-nibabel python3-tifffile python3-mrcfile python3-lz4 python3-numcodecs python3-zarr
python3-xarray python3-dask python3-fsspec python3-aiohttp netcdf-bin
octave attr
teem-apps
hdf5-tools python3-h5py
python3-paraview
imagej openjdk-17-jdk-headless
libtiff-tools python3-gdal
plastimatch rsync
fio
libnfs-utils qemu-utils qemu-block-extra iproute2
podman runc uidmap slirp4netns fuse-overlayfs
slurm-wlm munge'

missing=
for package in $packages; do
	dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed$' || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -ne 0 ]; then
	echo "clients: not root, and these Debian packages are missing:$missing" >&2
	exit 1
fi
echo "clients: installing$missing"
export DEBIAN_FRONTEND=noninteractive
apt-get update -q=2
# shellcheck disable=SC2086 # one word per package
apt-get install -q=2 --no-install-recommends $missing >/dev/null
