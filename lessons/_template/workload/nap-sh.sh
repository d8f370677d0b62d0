#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# nap-sh N - runs N processes one after another, each of which sleeps 100 us: a workload without C.
marker=/sys/kernel/tracing/trace_marker
sleeps=$1
[ ! -w $marker ] || echo "nap: start" >$marker 2>/dev/null
read -r began _ </proc/uptime
i=0
while [ "$i" -lt "$sleeps" ]; do
	sleep 0.0001 || exit 1
	i=$((i + 1))
done
read -r ended _ </proc/uptime
awk -v n="$sleeps" -v a="$began" -v b="$ended" \
	'BEGIN { t = b - a; if (t < 0.01) t = 0.01; printf "nap-sh: ops=%d per_s=%.1f\n", n, n / t }'
