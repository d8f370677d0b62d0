# SPDX-License-Identifier: GPL-2.0-or-later
"""A kernel-patches folder, a source tarball and patches, small but real, for the tests here."""

from __future__ import annotations

import difflib
import hashlib
import os
import tarfile
import time
from pathlib import Path

from duet.kernels import KernelSettings, Manifest
from duet.kernels.image import BUILD_ID_NOTE, KernelImage
from duet.kernels.recipe import BuildInputs

# A kernel in miniature: the targets, the output and the .cmd records that the builder relies
# on. $(GATE), when the test creates it, holds the compiler up; vmscan.c may ask for an error.
MAKEFILE = """VERSION = 6
PATCHLEVEL = 1
SUBLEVEL = 7
GATE = $(HOME)/gate
OBJECTS = mm/vmscan.o fs/super.o
bzImage: vmlinux
	@mkdir -p arch/x86/boot && cp vmlinux arch/x86/boot/bzImage
	@echo "Kernel: arch/x86/boot/bzImage is ready"
vmlinux: $(OBJECTS) .config
	@echo "  LD      vmlinux.o"
	@printf '\\004\\0\\0\\0\\024\\0\\0\\0\\003\\0\\0\\0GNU\\0' > vmlinux
	@cat $(OBJECTS) | sha1sum | head -c 20 >> vmlinux
	@echo >> vmlinux && cat $(OBJECTS) >> vmlinux
	@echo "ffffffff81000000 T _text" > System.map
%.o: %.c
	@echo "  CC      $@"
	@! grep "^error" $< >&2
	@while [ -e $(GATE) ]; do touch $(HOME)/waiting; sleep 0.05; done
	@cp $< $@
	@echo "deps := $<" > $(dir $@).$(notdir $@).cmd
allnoconfig:
	@grep -v CONFIG_LOST $(KCONFIG_ALLCONFIG) > $(KCONFIG_CONFIG)
"""
VMSCAN = "".join(f"line {number}\n" for number in range(1, 41))


def diff(name: str, old: str, new: str) -> str:
    """One file's part of a git patch."""
    hunks = difflib.unified_diff(
        old.splitlines(keepends=True), new.splitlines(keepends=True), f"a/{name}", f"b/{name}"
    )
    return f"diff --git a/{name} b/{name}\nindex 1111111..2222222 100644\n" + "".join(hunks)


def patch(subject: str, *parts: str, body: str = "Why.\n") -> str:
    """A file as `git format-patch --zero-commit` writes it."""
    head = f"From {'0' * 40} Mon Sep 17 00:00:00 2001\nFrom: Kernel Duet <kernel-duet@localhost>\n"
    return f"{head}Subject: [PATCH] {subject}\n\n{body}---\n\n" + "".join(parts)


def replace(name: str, old: str, line: int, text: str) -> str:
    """The diff that makes `line` (from 1) of a file read `text`."""
    lines = old.splitlines(keepends=True)
    lines[line - 1] = text + "\n"
    return diff(name, old, "".join(lines))


def make_tarball(path: Path, files: dict[str, str]) -> Path:
    """A linux-*.tar.xz with one top folder, like the real ones."""
    tree = path.parent / f"{path.name}.content" / "linux-6.1"
    for name, text in files.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text)
    with tarfile.open(path, "w:xz") as archive:
        archive.add(tree, tree.name)
    return path


FILES = {"Makefile": MAKEFILE, "mm/vmscan.c": VMSCAN, "fs/super.c": "super\n"}


# Real objects and a real ELF: vmscan.c, which is no C, is carried as data.
REAL_MAKEFILE = """VERSION = 6
PATCHLEVEL = 1
SUBLEVEL = 7
bzImage: vmlinux
	@mkdir -p arch/x86/boot
	@(head -c 510 /dev/zero; printf '\\125\\252\\353\\146HdrS'; cat vmlinux) > arch/x86/boot/bzImage
vmlinux: fs/super.o mm/vmscan.o .config
	@cp fs/super.o vmlinux.o
	@ld --build-id -e 0 -o $@ fs/super.o mm/vmscan.o
	@echo "ffffffff81000000 T _text" > System.map
fs/super.o: fs/super.c
	@echo "  CC      $@"
	@gcc -c -o $@ $<
mm/vmscan.o: mm/vmscan.c
	@echo "  CC      $@"
	@! grep "^error" $< >&2
	@echo '.data; .incbin "mm/vmscan.c"' | gcc -c -x assembler - -o $@
allnoconfig:
	@cp $(KCONFIG_ALLCONFIG) $(KCONFIG_CONFIG)
"""
REAL_FILES = {"Makefile": REAL_MAKEFILE, "mm/vmscan.c": VMSCAN, "fs/super.c": "int super;\n"}


def make_settings(folder: Path, files: dict[str, str] = FILES) -> KernelSettings:
    """kernel-patches/ with one shared patch and one arm, a tarball, and an empty cache.

    Args:
        files: of the tarball; mm/vmscan.c is VMSCAN.
    """
    patches = folder / "kernel-patches"
    base = patches / "bases" / "6.1"
    (base / "both").mkdir(parents=True)
    (patches / "02-toy").mkdir()
    tarball = make_tarball(folder / "linux-6.1.tar.xz", files)
    (base / "base.yaml").write_text(
        f"about: toy\nseries: '6.1'\ndefault: true\nconfig: [base.config]\n"
        f"source: {{package: linux-toy, tarball: {tarball}}}\n"
    )
    (base / "base.config").write_text("# why\nCONFIG_SMP=y\n# CONFIG_KASAN is not set\n")
    shared = patch("mm: trace", replace("mm/vmscan.c", VMSCAN, 30, "traced"))
    (base / "both" / "0001-trace.patch").write_text(shared)
    own = patch("mm: srcu", replace("mm/vmscan.c", VMSCAN, 10, "srcu"))
    (patches / "02-toy" / "srcu.patch").write_text(own)
    return KernelSettings(
        folder / "cache", patches, jobs=1, lock_wait_s=5, tree_bytes=1000, image_bytes=1000
    )


def kernel_of(text: str) -> bytes:
    """What the linker would make of it: a note with a digest, and something to run."""
    return BUILD_ID_NOTE + hashlib.sha1(text.encode()).digest() + text.encode()


def store_toy(settings: KernelSettings, need: BuildInputs) -> KernelImage:
    """Put an image with toy files under the key of `need`, through the real store."""
    draft = settings.cache / "draft"
    draft.mkdir(parents=True, exist_ok=True)
    files = {}
    for name in ("bzImage", "vmlinux", "System.map", "config"):
        files[name] = draft / name
        files[name].write_text("ffffffff81000000 T _text\nffffffff81000010 t _text\n")
    for name in ("bzImage", "vmlinux"):
        files[name].write_bytes(kernel_of(need.key()))
    manifest = Manifest(
        key=need.key(),
        kernel_version="6.1.7",
        package="linux-toy",
        tarball_sha256=need.tarball_sha256,
        config_sha256=need.config_sha256,
        patches=(),
        compiler=need.compiler,
        linker=need.linker,
        built_at="2026-01-01T00:00:00+00:00",
        seconds=1.0,
        objects=1,
        cold=False,
    )
    return settings.store.publish(files, manifest)


def wait_for_file(path: Path, deadline_s: float) -> bool:
    """Poll until `path` exists; False when the deadline passes first."""
    deadline = time.monotonic() + deadline_s
    while time.monotonic() < deadline:
        if path.exists():
            return True
        time.sleep(0.02)
    return False


def alive(pid: int) -> bool:
    """Whether a process runs; a zombie does not."""
    try:
        os.kill(pid, 0)
        return " Z " not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
