# SPDX-License-Identifier: GPL-2.0-or-later
# Covers what the workloads recycle and removal do not: a filesystem that stops while inodes wait to
# be inactivated. Each of these flushes or stops the queue: unmount, remount, freeze, df, and taking
# a CPU offline.
disk() {
	[ -e /run/xfs.img ] && return 0
	truncate -s 320M /run/xfs.img && mkfs.xfs -q /run/xfs.img
}
crowd() { # DIR: create files, keep some open, remove all
	mkdir -p "$1/d" || return 1
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		echo "$i" >"$1/d/$i" || return 1
	done
	exec 7<"$1/d/1" 8<"$1/d/2"
	rm -r "$1/d" || return 1
	exec 7<&- 8<&-
}
cpu_goes() { # DIR: take CPU 1 offline with inodes on its queue, then bring it back
	cpu=/sys/devices/system/cpu/cpu1/online
	[ -e $cpu ] || return 0
	crowd "$1" && echo 0 >$cpu && crowd "$1" && echo 1 >$cpu && crowd "$1"
}
beside() {
	m=/run/m-xfs
	mkdir -p $m && disk && mount -o loop -t xfs /run/xfs.img $m || return 1
	crowd $m && umount $m && mount -o loop -t xfs /run/xfs.img $m || return 1
	crowd $m && mount -o remount,ro $m && mount -o remount,rw $m || return 1
	crowd $m && busybox fsfreeze --freeze $m && sleep 0.2 && busybox fsfreeze --unfreeze $m || return 1
	crowd $m && sync && df $m >/dev/null || return 1
	cpu_goes $m || return 1
	crowd $m && umount $m
}
