#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# pressed-fio ROOM_MB fio ARGUMENTS...: fio in a guest that is short of memory.
#
# All memory but ROOM_MB is taken by a file in memory, which nothing can reclaim: there is no swap.
# What fio writes to /scratch goes through writeback as usual, and whenever memory runs short,
# kswapd and whoever needs a page call the shrinkers. Nobody else asks for a scan. (A limit of a
# memcg would not do: ext4's extent status shrinker knows no memcg, so only the whole guest's
# shortage reaches it.)
#
# A tenth of a second apart it reads how many entries ext4 keeps, and how many of them may be freed.
# `scan: start` and `scan: end` go to the kernel's trace. Lines in the end: fio's own rate and 99th
# percentile, the entries on average, and pages that reclaim looked at.
set -u
AT=/scratch
DISK=/run/duet-scratch/disk
BALLAST=/run/pressed-ballast
REPORT=/tmp/pressed-fio.json
MARKER=/sys/kernel/tracing/trace_marker
MEGABYTE=1048576
LEAST_MB=48 # fio and the kernel themselves need some

fail() {
	echo "pressed-fio: $*" >&2
	exit 1
}

number() { # FILE KEY
	while read -r key value _; do
		[ "$key" != "$2" ] || echo "$value"
	done <"$1"
}

# A scratch disk in memory takes its whole size now, so that writing to it needs no more.
fill_disk() {
	if [ -f "$DISK" ]; then
		busybox fallocate -l "$(stat -c %s "$DISK")" "$DISK" ||
			fail "the scratch disk does not fit into memory. Raise memory_mb of the lesson."
	fi
}

take_memory() {
	rm -f "$BALLAST"
	sync
	echo 3 >/proc/sys/vm/drop_caches
	have=$(($(number /proc/meminfo MemAvailable:) / 1024))
	[ "$have" -gt "$room" ] ||
		fail "$room MB are to stay free, only $have MB are. Raise memory_mb of the lesson."
	busybox fallocate -l $(((have - room) * MEGABYTE)) "$BALLAST" ||
		fail "$((have - room)) MB of memory cannot be taken."
}

# Each counter of reclaim, less what it was before: NAME=VALUE words.
reclaimed() {
	for name in pgscan_kswapd pgscan_direct pgsteal_kswapd pgsteal_direct; do
		eval "echo $name=\$(($(number /proc/vmstat "$name") - \${before_$name:-0}))"
	done
}

watch_entries() {
	samples=0 all=0 evictable=0
	while kill -0 "$fio" 2>/dev/null; do
		sleep 0.1
		{
			read -r _
			read -r now _
			read -r may _
		} <"$info"
		samples=$((samples + 1)) all=$((all + now)) evictable=$((evictable + may))
	done
}

# fio counts nanoseconds.
print_fio() {
	awk -F '[:,]' '
		/"write" : / { writing = 1 }
		/"trim" : / { writing = 0 }
		writing && /"iops" :/ { printf "pressed: fio_iops=%d\n", $2 }
		writing && /"99.000000" :/ { printf "pressed: fio_p99_us=%.3f\n", $2 / 1000 }
		writing && /"99.900000" :/ { printf "pressed: fio_p999_us=%.3f\n", $2 / 1000 }
	' "$REPORT"
}

room=${1:-}
case $room in
'' | *[!0-9]*) fail "usage: pressed-fio ROOM_MB fio ARGUMENTS..." ;;
esac
shift
[ $# -gt 0 ] || fail "usage: pressed-fio ROOM_MB fio ARGUMENTS..."
[ "$room" -ge "$LEAST_MB" ] || fail "fio and the kernel need $LEAST_MB MB, not $room."
info=$(echo /proc/fs/ext4/*/es_shrinker_info)
[ -r "$info" ] || fail "one ext4 is wanted at $AT, and no other."

trap 'rm -f "$BALLAST"' EXIT
fill_disk
take_memory
for word in $(reclaimed); do
	eval "before_$word"
done
{ echo "scan: start" >"$MARKER"; } 2>/dev/null
"$@" --output-format=json --output="$REPORT" &
fio=$!
watch_entries
wait "$fio" || fail "fio failed: $(head -n 3 "$REPORT")"
{ echo "scan: end" >"$MARKER"; } 2>/dev/null
print_fio
[ "$samples" -gt 0 ] || fail "fio was over at once. Let it write more."
echo "pressed: samples=$samples entries=$((all / samples)) evictable=$((evictable / samples))" \
	"delayed=$(((all - evictable) / samples))"
echo "pressed: $(reclaimed | tr '\n' ' ')"
