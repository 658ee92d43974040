#!/bin/sh
# Makes a virtual machine in the directory $1: the kernel of Debian, and a root file system of busybox and the modules of an NFS
# client. Needs root, unless the packages are installed.
set -eu

dir=$1
here=$(cd "$(dirname "$0")" && pwd)
[ ! -e "$dir/initrd" ] || exit 0

packages='qemu-system-x86 busybox-static cpio kmod'
for package in $packages; do
	dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed$' || {
		echo "vm: installing $packages"
		apt-get update -q=2
		# shellcheck disable=SC2086 # one word per package
		DEBIAN_FRONTEND=noninteractive apt-get install -q=2 --no-install-recommends $packages >/dev/null
		break
	}
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
package=$(apt-cache depends linux-image-cloud-amd64 | sed -n 's/.*Depends: \(linux-image-[0-9]\)/\1/p' | head -n 1)
apt-get download -q=2 "$package" 2>/dev/null
dpkg-deb -x linux-image-*.deb kernel
version=$(ls kernel/lib/modules)
depmod -b kernel "$version"

mkdir -p root/bin root/proc root/sys root/dev root/mnt root/modules
cp /bin/busybox root/bin
install -m 755 "$here/init" root/init
number=100
for module in virtio_pci virtio_net nfsv3; do
	modprobe -d "$PWD/kernel" -S "$version" --show-depends "$module"
done | sed -n 's/^insmod \([^ ]*\).*/\1/p' | while read -r file; do
	name=$(basename "$file")
	ls root/modules | grep -q "^[0-9]*-$name\$" || cp "$file" "root/modules/$number-$name"
	number=$((number + 1))
done

mkdir -p "$dir"
cp "kernel/boot/vmlinuz-$version" "$dir/vmlinuz"
(cd root && find . | cpio -o -H newc --quiet) | gzip -1 >"$dir/initrd.new"
mv "$dir/initrd.new" "$dir/initrd"
