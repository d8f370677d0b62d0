# SPDX-License-Identifier: GPL-2.0-or-later
"""What this machine has and lacks, with remedies. These checks are quick and start nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from duet.base.errors import DuetError
from duet.base.settings import cache_dir, repo_root
from duet.cli.doctor.line import DELEGATE, Check
from duet.confine.control_groups import Group
from duet.confine.namespaces import missing_namespaces
from duet.confine.sandbox import can_unshare_network, missing_user

NEEDED_BYTES = 6 << 30
"""Space for one base's source tree, its objects and a handful of images."""
YAMA = Path("/proc/sys/kernel/yama/ptrace_scope")


def _python() -> Iterator[Check]:
    version = ".".join(map(str, sys.version_info[:3]))
    good = sys.version_info >= (3, 11)
    remedy = "" if good else "Install Python 3.11 or newer."
    yield Check("python", "ok" if good else "missing", version, "everything", remedy)


def _program(program: str, package: str, purpose: str, flag: str = "--version") -> Check:
    path = shutil.which(program, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
    if path is None:
        remedy = f"Install: apt-get install {package}"
        return Check(program, "missing", "not found", purpose, remedy)
    try:
        done = subprocess.run([path, flag], capture_output=True, text=True, timeout=10)
        said = (done.stdout or done.stderr).strip().splitlines()
    except (OSError, subprocess.TimeoutExpired):
        said = []
    return Check(program, "ok", said[0][:70] if said else "found", purpose)


def _decoder() -> Iterator[Check]:
    yield _program("gcc", "gcc libc6-dev", "decoding, building guests and kernels")
    name, purpose = "libtraceevent", "decoding events"
    remedy = "Install: apt-get install pkg-config libtraceevent-dev"
    try:
        done = subprocess.run(
            ["pkg-config", "--modversion", "libtraceevent"], capture_output=True, text=True
        )
        found = done.stdout.strip() if done.returncode == 0 else ""
    except OSError:
        found = ""
    if found:
        yield Check(name, "ok", found, purpose)
    else:
        yield Check(name, "missing", "not found", purpose, remedy)


def _kernel_tools() -> Iterator[Check]:
    from duet.kernels.compiler import check_tools

    name, purpose = "kernel build tools", "building kernels"
    try:
        check_tools()
    except DuetError as error:
        yield Check(name, "missing", error.sentence, purpose, error.remedy)
    else:
        yield Check(name, "ok", "make, flex, bison, bc, libelf and the rest", purpose)


def _kernel_source() -> Iterator[Check]:
    from duet.kernels import KernelSettings
    from duet.kernels.source import NoSource

    settings = KernelSettings.default()
    name, purpose = "kernel source", "building kernels"
    try:
        tarball = settings.tarball(settings.base)
    except DuetError as error:
        comes = isinstance(error, NoSource) and bool(settings.base.source.package)
        yield Check(name, "warning" if comes else "missing", error.sentence, purpose, error.remedy)
    else:
        yield Check(name, "ok", str(tarball.path), purpose)


def _guests() -> Iterator[Check]:
    yield _program("qemu-system-x86_64", "qemu-system-x86", "booting guests")
    yield _program("busybox", "busybox-static", "the guests' root", flag="--help")
    yield _program("stress-ng", "stress-ng", "the mail's own workload")
    yield _program("fio", "fio", "a workload of the guests")
    yield _program("mkfs.xfs", "xfsprogs", "the guests' scratch disks", flag="-V")
    yield _program("mkfs.ext4", "e2fsprogs", "the guests' scratch disks", flag="-V")
    yield _users()
    yield _namespaces()
    yield _budgets()
    yield _box()
    yield _launcher()
    yield _drgn()
    yield _kvm()


def _launcher() -> Check:
    beside = Path(sys.executable).with_name("vng")
    path = str(beside) if beside.exists() else shutil.which("vng")
    purpose = "the author's launcher (DUET_GUEST=vng)"
    if path is None:
        return Check("vng", "warning", "not found", purpose, "Run ./setup.sh page.")
    return Check("vng", "ok", path, purpose)


def _drgn() -> Check:
    """Report whether the x-ray can read QEMU's memory.

    The kernel's Yama module may allow only QEMU's parent processes to read it.
    """
    purpose = "the x-ray (samples of a kernel's memory), `duet drgn`"
    try:
        version = metadata.version("drgn")
    except metadata.PackageNotFoundError:
        return Check("drgn", "missing", "not found", purpose, "Run ./setup.sh page.")
    if os.geteuid() != 0 and YAMA.exists() and YAMA.read_text().strip() != "0":
        remedy = "Allow it: sudo sysctl kernel.yama.ptrace_scope=0"
        return Check("drgn", "warning", f"{version}, only through slow QMP text", purpose, remedy)
    return Check("drgn", "ok", version, purpose)


def _users() -> Check:
    """Report whether QEMU runs as a separate user, so that a flaw in QEMU exposes little."""
    name, purpose = "own users", "guests, their x-ray and Chromium, each apart from the rest"
    if why := missing_user():
        remedy = "Start ./duet as root: it then runs each of them as a user without privileges."
        return Check(name, "warning", why, purpose, remedy)
    found = "each guest gets a user of its own"
    if can_unshare_network():
        return Check(name, "ok", f"{found}, without network", purpose)
    remedy = (
        "Give the container the capability SYS_ADMIN, or leave it: guests have no network card."
    )
    return Check(name, "warning", f"{found}, with the host's network", purpose, remedy)


def _namespaces() -> Check:
    """Report whether guests and Chromium get namespaces.

    With namespaces, a process that escapes sees little of the host.
    """
    name, purpose = "namespaces", "guests and Chromium see their own files and processes alone"
    if why := missing_namespaces():
        remedy = "Run ./setup.sh kernels as root, or allow user namespaces."
        return Check(name, "warning", why, purpose, remedy)
    return Check(name, "ok", "bubblewrap makes mount, PID, network and IPC namespaces", purpose)


def _budgets() -> Check:
    """Report whether the server may create control groups."""
    from duet.guests.enclosure import lane_budget

    name, purpose = "lane budgets", "memory, CPU share and processes of each lane"
    with Group(lane_budget(0), "doctor") as group:
        lacks = group.missing_controllers
    if not lacks:
        return Check(name, "ok", "control groups can be made", purpose)
    found = f"no control group for {' and '.join(lacks)} can be made here"
    return Check(name, "warning", found, purpose, DELEGATE)


def _box() -> Check:
    """Report whether other people's patches can be built."""
    from duet.confine import box_weakness, missing_box

    name, purpose = "sandbox", "builds of patches that are not your own"
    if why := missing_box():
        return Check(name, "warning", why, purpose, "docs/SANDBOX.md says what it needs.")
    if weak := box_weakness():
        return Check(name, "warning", weak, purpose, DELEGATE)
    return Check(name, "ok", "builds can run in a box", purpose)


def _kvm() -> Check:
    from duet.cli.kvm import kvm_works

    purpose = "speed; emulation works everywhere"
    if not Path("/dev/kvm").exists():
        return Check("kvm", "warning", "no /dev/kvm: guests are emulated", purpose)
    works, why = kvm_works()
    if works:
        return Check("kvm", "ok", "a probe guest booted under it", purpose)
    remedy = "Nothing to do: emulation is slower and shows the same."
    if why.startswith("Only root"):
        remedy = "Open it to a group: chgrp kvm /dev/kvm && chmod 660 /dev/kvm"
    return Check("kvm", "warning", why, purpose, remedy)


def _disk() -> Iterator[Check]:
    folder = cache_dir()
    there = next(path for path in (folder, *folder.parents) if path.exists())
    free = shutil.disk_usage(there).free
    found = f"{free / 2**30:.1f} GiB free for {folder}"
    if not os.access(there, os.W_OK):
        remedy = "Set DUET_CACHE to a folder that you may write to."
        yield Check("disk", "missing", f"{there} is not writable", "kernels", remedy)
    elif free < NEEDED_BYTES:
        remedy = f"Free {NEEDED_BYTES >> 30} GiB, or set DUET_CACHE to a larger disk."
        yield Check("disk", "warning", found, "kernels", remedy)
    else:
        yield Check("disk", "ok", found, "kernels")


def _page() -> Iterator[Check]:
    if (repo_root() / "frontend/dist/index.html").is_file():
        yield Check("page", "ok", "built", "the browser")
    else:
        remedy = "Run ./setup.sh page."
        yield Check("page", "missing", "frontend/dist is not built", "the browser", remedy)
    yield _chromium()


def _chromium() -> Check:
    """Report whether Chromium is installed and can be confined."""
    from duet.export.browser import can_make_user_namespace, find_chromium

    name, purpose = "chromium", "stills, exported pictures, browser tests"
    try:
        program = find_chromium()
    except DuetError:
        return Check(name, "warning", "not found", purpose, "Install: apt-get install chromium")
    if os.geteuid() == 0 and missing_user():
        remedy = "Run the server as an ordinary user."
        return Check(name, "warning", f"{program}: it never runs as root", purpose, remedy)
    try:
        sandboxed = can_make_user_namespace()
    except DuetError as error:
        return Check(name, "warning", error.sentence, purpose, error.remedy)
    if sandboxed:
        return Check(name, "ok", f"{program}, in its own sandbox", purpose)
    found = f"{program}, without its own sandbox: this kernel refuses user namespaces"
    remedy = "Allow them: sysctl user.max_user_namespaces=10000 kernel.unprivileged_userns_clone=1"
    return Check(name, "warning", found, purpose, remedy)


def _lessons() -> Iterator[Check]:
    from duet.kernels import KernelSettings
    from duet.kernels.arms import ready_arms
    from duet.lessons import load as lessons

    settings = KernelSettings.default()
    for slug in lessons.slugs():
        name, purpose = f"kernels {slug}", "live runs of the lesson"
        try:
            folder = lessons.load(slug)
            ready = ready_arms(folder, settings)
        except DuetError as error:
            yield Check(name, "missing", error.sentence, purpose, error.remedy)
            continue
        absent = [arm for arm in folder.usual_arms if not ready[arm]]
        if absent:
            found, remedy = f"not built: {', '.join(absent)}", f"Run: ./duet build {slug}"
            yield Check(name, "warning", found, purpose, remedy)
        else:
            later = [arm for arm, there in ready.items() if not there]
            also = f"; optional, not built: {', '.join(later)}" if later else ""
            yield Check(name, "ok", f"all {len(folder.usual_arms)} built{also}", purpose)


PARTS = (_python, _decoder, _kernel_tools, _kernel_source, _guests, _disk, _page, _lessons)
