# SPDX-License-Identifier: GPL-2.0-or-later
# Covers what statstorm does not: dentries that are created, renamed and removed while other tasks
# use or list them.
beside() {
	m=/run/m-tmpfs
	mkdir -p $m && mount -t tmpfs none $m && mkdir $m/a $m/b || return 1
	for i in 1 2 3 4 5 6 7 8; do
		echo >"$m/a/$i-a-name-that-ends-on-line-1" || return 1
		echo >"$m/a/$i-a-name-that-is-too-long-to-be-inside-the-dentry" || return 1
	done
	ls -l $m/a $m/b >/dev/null & ls -lR $m >/dev/null &
	for i in 1 2 3 4 5 6 7 8; do
		mv "$m/a/$i-a-name-that-ends-on-line-1" "$m/b/$i" || return 1
		mv "$m/a/$i-a-name-that-is-too-long-to-be-inside-the-dentry" "$m/a/$i" || return 1
		[ -e "$m/a/none-$i" ] && return 1
		rm "$m/b/$i" || return 1
	done
	mv $m/a $m/b/a && rm -r $m/b/a || return 1
	wait $!
	sleep 0.1
	umount $m || { sleep 1 && umount $m; }
}
