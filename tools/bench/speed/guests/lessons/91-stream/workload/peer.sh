#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# peer MODE KB EVENTS COMMAND...: run a command while another tool reads its events.
#
#	unread	the events are on, and nobody reads them; the buffer overwrites the oldest
#	record	trace-cmd record writes /scratch/trace.dat, for the host to read from the disk
#	serial	trace_pipe goes to the serial port as text
#
# EVENTS is GROUP:NAME, separated by commas. The buffer has KB for each CPU. It ends with a line
# that says how many events the ring buffer overwrote.
set -u
T=/sys/kernel/tracing

fail() {
	echo "peer: $*" >&2
	exit 1
}

events() { # 0 or 1
	for one in $(echo "$names" | tr , ' '); do
		echo "$1" >"$T/events/$(echo "$one" | tr : /)/enable" || fail "there is no event $one"
	done
}

begin() {
	echo 0 >$T/tracing_on
	echo "$kb" >$T/buffer_size_kb
	echo >$T/trace
	events 1
	echo 1 >$T/tracing_on
}

end() {
	echo 0 >$T/tracing_on
	events 0
}

overrun() {
	sed -n 's/^overrun: //p' $T/per_cpu/cpu0/stats
}

entries() {
	sed -n 's/^entries: //p' $T/per_cpu/cpu0/stats
}

mode=$1 kb=$2 names=$3
shift 3
case $mode in
unread)
	begin
	"$@"
	end
	echo "peer: overrun=$(overrun)"
	echo >$T/trace
	;;
record)
	asked=
	for one in $(echo "$names" | tr , ' '); do
		asked="$asked -e $one"
	done
	# shellcheck disable=SC2086 # two words for each event
	trace-cmd record -q -C mono -b "$kb" -o /scratch/trace.dat $asked "$@" 2>/run/trace-cmd ||
		fail "trace-cmd: $(tail -1 /run/trace-cmd)"
	sync
	echo "peer: bytes=$(stat -c %s /scratch/trace.dat)"
	echo "peer: overrun=$(overrun)"
	echo 0 >$T/events/enable
	;;
serial)
	begin
	cat $T/trace_pipe >/dev/ttyS0 &
	reader=$!
	"$@"
	echo 0 >$T/tracing_on
	while [ "$(entries)" != 0 ]; do
		sleep 0.05
	done
	sleep 0.3
	kill $reader
	end
	echo "peer: overrun=$(overrun)"
	;;
esac
