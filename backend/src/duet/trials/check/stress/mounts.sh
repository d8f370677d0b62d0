# SPDX-License-Identifier: GPL-2.0-or-later
# Covers what the mount storm does not: superblocks with separate caches, which a scan may visit
# during their unmount. Runs in parallel to the workloads, while `reclaim` walks all shrinkers.
fill() { # DIR: dentries and inodes that a scan can count, and some that it can reclaim
	mkdir -p "$1/d" || return 1
	for i in 1 2 3 4 5 6 7 8; do
		echo "$i" >"$1/d/$i" || return 1
		[ -e "$1/d/none-$i" ] && return 1
	done
	rm "$1/d/1" "$1/d/2"
}
image() { # FS: create an image file if missing
	[ -e "/run/$1.img" ] && return 0
	truncate -s 320M "/run/$1.img" && "mkfs.$1" -q "/run/$1.img"
}
beside() {
	cat /sys/kernel/debug/shrinker/sb-*/count >/dev/null 2>&1 &
	for fs in tmpfs ramfs; do
		mkdir -p "/run/m-$fs" && mount -t "$fs" none "/run/m-$fs" && fill "/run/m-$fs" &&
			umount "/run/m-$fs" || return 1
	done
	for fs in xfs ext4; do
		command -v "mkfs.$fs" >/dev/null || continue
		mkdir -p "/run/m-$fs" && image "$fs" && mount -o loop -t "$fs" "/run/$fs.img" "/run/m-$fs" &&
			fill "/run/m-$fs" && umount "/run/m-$fs" || return 1
		# A mount that fails half-way, with a superblock that may still exist.
		mount -o loop,nonsense -t "$fs" "/run/$fs.img" "/run/m-$fs" 2>/dev/null && return 1
	done
	mount -t tmpfs -o size=nonsense none /run/m-tmpfs 2>/dev/null && return 1
	mkdir -p /run/l /run/u /run/w /run/m-o && mount -t overlay o \
		-o lowerdir=/run/l,upperdir=/run/u,workdir=/run/w /run/m-o 2>/dev/null &&
		umount /run/m-o
	mount -t proc none /run/m-tmpfs && umount /run/m-tmpfs || return 1
	wait $!
	return 0
}
