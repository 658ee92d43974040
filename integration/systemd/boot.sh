#!/bin/sh
# Starts systemd as the first process of a small system in the directory $1. This process has mount, PID, network, UTS and IPC namespaces of
# its own, and is in a cgroup of its own. Nothing of the machine can be written from the system: its root is a tmpfs, /usr and the source $3
# are read-only, and systemd sees only the units in $4. $2 is the program.
set -eu
root=$1 program=$2 source=$3 units=$4
[ $$ = 1 ] || exit 9 # this would change the mounts of the machine

if [ "${5-}" != in-cgroup ]; then
	exec unshare --cgroup sh "$0" "$@" in-cgroup
fi

mount --make-rprivate /
mount -t tmpfs -o mode=755 tmpfs "$root"
mkdir -p "$root/usr" "$root/etc/wkwfs" "$root/dev" "$root/proc" "$root/sys" "$root/run" "$root/tmp" "$root/var/tmp" "$root/data" \
	"$root/mnt/cortex" "$root/old"
read_only() { # FROM TO
	mount --bind "$1" "$2"
	mount -o remount,bind,ro "$2"
}
read_only /usr "$root/usr"
for dir in bin sbin lib lib64; do
	if [ -L "/$dir" ]; then
		cp -P "/$dir" "$root/$dir"
	elif [ -d "/$dir" ]; then
		mkdir "$root/$dir"
		read_only "/$dir" "$root/$dir"
	fi
done
mount -t tmpfs tmpfs "$root/usr/local"
mkdir "$root/usr/local/bin"
cp "$program" "$root/usr/local/bin/wkwfs"
cp -r "$units" "$root/units"
mv "$root/units/cortex.env" "$root/etc/wkwfs/cortex.env"
[ ! -e /etc/ld.so.cache ] || cp /etc/ld.so.cache "$root/etc"
read_only "$source" "$root/data"

mount -t tmpfs -o mode=755 tmpfs "$root/dev" # otherwise systemd mounts that of the machine
while read -r name major minor; do
	mknod -m 666 "$root/dev/$name" c "$major" "$minor"
done <<-END
	null 1 3
	zero 1 5
	random 1 8
	urandom 1 9
	fuse 10 229
END
ln -s /proc/self/fd "$root/dev/fd"
mount -t proc proc "$root/proc"
read_only "$root/proc/sys" "$root/proc/sys"
[ ! -e "$root/proc/sysrq-trigger" ] || read_only "$root/proc/sysrq-trigger" "$root/proc/sysrq-trigger"
mount -t sysfs -o ro sysfs "$root/sys"
mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"

cd "$root"
pivot_root . old
cd /
umount -l /old
[ ! -e "$source" ] || exit 9 # the files of the machine are still there
exec env -i container=test SYSTEMD_UNIT_PATH=/units SYSTEMD_GENERATOR_PATH=/none SYSTEMD_ENVIRONMENT_GENERATOR_PATH=/none \
	/lib/systemd/systemd --system --unit=test.target --log-target=null --show-status=no
