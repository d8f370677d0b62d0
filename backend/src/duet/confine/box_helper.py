# SPDX-License-Identifier: GPL-2.0-or-later
"""Helper process that creates a box, runs the steps in bubblewrap, and copies the results out.

`python -m duet.confine.box_helper FD` reads an Order from standard input and writes a Report to
descriptor FD. The steps write to standard output. The helper has a separate mount namespace, so its
mounts disappear even if it is killed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from duet.base.errors import DuetError
from duet.confine import box as bounds
from duet.confine import namespaces as mounts
from duet.confine import sandbox
from duet.confine import sandbox as seccomp
from duet.confine.box import INPUTS, BadResult, Order, Report, copy_result, parse_order
from duet.confine.namespaces import exit_code, system_words


def main() -> int:
    out = int(sys.argv[1])
    os.set_inheritable(out, False)
    order = parse_order(sys.stdin.read())
    try:
        report = _run(order)
    except (OSError, DuetError) as error:
        report = Report(broken=str(error).rstrip("."))
    with os.fdopen(out, "w", encoding="utf-8") as file:
        file.write(report.text())
    return 0


def _run(order: Order) -> Report:
    mounts.enter_mount_namespace(own_user=order.uid is None)
    place = _BoxMounts(order)
    filtered = _filter()
    for step in order.job.steps:
        done = subprocess.run(
            [*_prefix(order), *_bubblewrap(order, place, filtered), "--", *step.words],
            stdin=subprocess.DEVNULL,
            pass_fds=(filtered,),
            preexec_fn=lambda: _join(order, filtered),
            env={"PATH": os.defpath + ":/usr/sbin:/sbin"},
            check=False,
        )
        if done.returncode != 0:
            return Report(step.name, exit_code(done.returncode), written_bytes=place.written())
    sizes = {}
    try:
        for wanted in order.job.results:
            sizes[wanted.name] = copy_result(place.tree, wanted)
    except BadResult as bad:
        return Report(bad_result=str(bad), written_bytes=place.written())
    return Report(written_bytes=place.written(), sizes=sizes)


class _BoxMounts:
    """Mounts of a box: the writable tree, the inputs and the readable folders."""

    def __init__(self, order: Order) -> None:
        top, limits, uid = Path(order.scratch), order.limits, order.uid
        mounts.mount_tmpfs(top, limits.disk_bytes, limits.files)
        lower, self._upper, work, self.tree = (top / name for name in ("l", "u", "w", "tree"))
        self.inputs = top / "inputs"
        for folder in (lower, self._upper, work, self.tree, self.inputs):
            folder.mkdir()
        if uid is not None:
            for folder in (self._upper, self.tree):
                os.chown(folder, uid, uid)
        mounts.bind_read_only(Path(order.job.tree), lower, uid)
        mounts.mount_overlay(lower, self._upper, work, self.tree)
        for name, content in order.job.files.items():
            (self.inputs / name).write_bytes(content.encode(errors="surrogateescape"))
        self.readable: dict[str, Path] = {}
        for number, source in enumerate(order.job.readable):
            (top / f"r{number}").mkdir()
            mounts.bind_read_only(Path(source), top / f"r{number}", uid)
            self.readable[source] = top / f"r{number}"

    def written(self) -> int:
        """Return the number of bytes used in the tmpfs that stores everything the box wrote."""
        used = os.statvfs(self._upper)
        return (used.f_blocks - used.f_bfree) * used.f_frsize


def _prefix(order: Order) -> list[str]:
    limits = order.limits
    each = sandbox.Limits(
        memory_bytes=limits.process_bytes,
        cpu_s=limits.cpu_s,
        files=bounds.DESCRIPTORS,
        file_bytes=limits.file_bytes,
        processes=limits.processes,
    )
    # `network=True`, because bubblewrap creates the network namespace.
    return sandbox.prefix(each, uid=order.uid, network=True)


def _bubblewrap(order: Order, place: _BoxMounts, filtered: int) -> list[str]:
    words = ["bwrap", "--unshare-all", "--unshare-user", "--disable-userns", "--cap-drop", "ALL"]
    words += ["--uid", "1000", "--gid", "1000"] if order.uid is None else []
    words += ["--die-with-parent", "--new-session", "--hostname", "box", "--clearenv"]
    for name, value in order.job.environment.items():
        words += ["--setenv", name, value]
    words += system_words()
    words += ["--proc", "/proc", "--dev", "/dev"]
    words += ["--size", str(order.limits.scratch_bytes), "--tmpfs", "/tmp"]
    words += ["--ro-bind", str(place.inputs), INPUTS]
    for source, shown in place.readable.items():
        words += ["--ro-bind", str(shown), source]
    words += ["--bind", str(place.tree), order.job.tree, "--chdir", order.job.tree]
    words += ["--remount-ro", "/", "--remount-ro", "/dev"]
    return [*words, "--seccomp", str(filtered)]


def _filter() -> int:
    """Return a file descriptor of the seccomp filter; each step reads the filter from offset 0."""
    file = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as this process
    file.write(seccomp.build_filter())
    file.flush()
    return os.dup(file.fileno())


def _join(order: Order, filtered: int) -> None:
    os.lseek(filtered, 0, os.SEEK_SET)
    for name in order.groups:
        Path(name).write_text(str(os.getpid()))


if __name__ == "__main__":
    sys.exit(main())
