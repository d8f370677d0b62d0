#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# mix.sh ROUNDS: the workloads of all five lessons and some of stress-ng, one after another.
#
# XFS is at /scratch, which the lesson's setup has made. ext4 is on a loop device over memory, made
# here before the marker. Each part does a fixed amount of work, so that runs give about as many
# events. Programs write their own markers; the first marker of the run is "mix: start".
set -u
EXT4=/run/mix-ext4
BACK=/run/mix-back

fail() {
	echo "mix: $*" >&2
	exit 1
}

part() { # COMMAND...; its last line is reported if it fails
	said=$("$@" 2>&1) || fail "$1 ended with $?: $(echo "$said" | tail -1)"
}

make_ext4() {
	mkdir -p $EXT4 $BACK
	mount -t tmpfs -o size=200m back $BACK || fail "no tmpfs"
	truncate -s 192M $BACK/disk
	device=$(losetup -f)
	losetup "$device" $BACK/disk || fail "no loop device"
	part mkfs.ext4 -q -F -b 4096 -E lazy_itable_init=0,lazy_journal_init=0,nodiscard "$device"
	mount -t ext4 -o commit=600 "$device" $EXT4 || fail "no ext4"
}

make_ext4
mkdir -p $EXT4/touch $EXT4/extents
echo "mix: start" >/sys/kernel/tracing/trace_marker
round=0
while [ $round -lt "$1" ]; do
	round=$((round + 1))
	rm -f $EXT4/touch/* $EXT4/extents/*
	xfs=/scratch/$round
	mkdir $xfs
	part storm --hogs 4 --seconds 60 --ops 1000 --reclaim-ms 100
	part containers --containers 24 --what 2 --touch $EXT4/touch --touched 12
	part recycle --dir $xfs --batch 64 --files 4096
	part removal --dir $xfs --files 4096
	part paths --dir $xfs --names 2048 --removers 2 --walkers 1 --target 60
	part extents --dir $EXT4/extents --files 1 --tell 1 --written 1000 --delayed 3000 --scans 200 --nr 128
	part statstorm --tasks 6 --name-length 24 --stats 3000
	part stress-ng --timeout 60 --switch 2 --switch-ops 40000
	part stress-ng --timeout 60 --pipe 2 --pipe-ops 40000
	part stress-ng --timeout 60 --fork 2 --fork-ops 600
	part stress-ng --timeout 60 --futex 2 --futex-ops 6000
	echo "mix: round $round"
done
umount $EXT4
losetup -d "$device"
umount $BACK
echo "mix: rounds=$round"
