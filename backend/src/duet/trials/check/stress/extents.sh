# SPDX-License-Identifier: GPL-2.0-or-later
# Covers what the workloads extents and fio do not: extent entries that are removed with their
# blocks. A second filesystem is written, truncated, punched and unmounted, while drop_caches and
# scans walk all filesystems.
beside() {
	m=/run/m-ext4
	if [ ! -e /run/ext4.img ]; then
		truncate -s 128M /run/ext4.img && mkfs.ext4 -q /run/ext4.img || return 1
	fi
	mkdir -p $m && mount -o loop -t ext4 /run/ext4.img $m || return 1
	for i in 1 2 3 4; do
		# Every second block, then the others; by then some of the first are on disk.
		for at in 0 2 4 6 8 10 12 14; do
			dd if=/dev/zero of=$m/$i bs=4k count=1 seek=$at conv=notrunc 2>/dev/null || return 1
		done
		[ $((i % 2)) = 0 ] || sync $m/$i
		for at in 1 3 5 7 9 11 13 15; do
			dd if=/dev/zero of=$m/$i bs=4k count=1 seek=$at conv=notrunc 2>/dev/null || return 1
		done
		cat $m/$i >/dev/null
		busybox fallocate -l 200k $m/$i && truncate -s $((i * 7))k $m/$i || return 1
	done
	rm $m/1 $m/2
	umount $m
}
