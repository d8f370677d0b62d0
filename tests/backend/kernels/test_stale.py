# SPDX-License-Identifier: GPL-2.0-or-later
"""Which objects a small change makes stale, and when only make can tell."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from duet.kernels import ArmSpec, KernelSettings, build
from duet.kernels.compiler import CompileFails
from duet.kernels.stale import (
    are_fresh,
    fingerprint,
    search_limit,
    stale_objects,
    touch_archive,
)
from tests.support import miniature

MAKEFILE = """\
build-dir\t:= .
$(build-dir): prepare
\t$(Q)$(MAKE) $(build)=$@ need-builtin=1 need-modorder=1 $(single-goals)
"""


def record(src: Path, product: str, *sources: str) -> None:
    """Write what kbuild records of a product."""
    path = src / product
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    first, *others = sources
    lines = [f"savedcmd_{product} := gcc -c -o {product} {first}", f"source_{product} := {first}"]
    lines += [f"deps_{product} := \\", *(f"  {name} \\" for name in others), ""]
    path.with_name(f".{path.name}.cmd").write_text("\n".join(lines))


@pytest.fixture
def src(tmp_path: Path) -> Path:
    top = tmp_path / "src"
    record(top, "fs/pipe.o", "fs/pipe.c", "include/linux/fs.h", "fs/internal.h")
    record(top, "fs/super.o", "fs/super.c", "include/linux/fs.h", "fs/internal.h")
    record(top, "mm/vmscan.o", "mm/vmscan.c", "include/trace/events/vmscan.h")
    record(top, "lib/lz4.o", "lib/lz4.c")
    record(top, "arch/x86/boot/misc.o", "arch/x86/boot/misc.c", "arch/x86/boot/../../../lib/lz4.c")
    record(top, "kernel/bounds.s", "kernel/bounds.c", f"{top}/include/linux/mmzone.h")
    (top / "Makefile").write_text(MAKEFILE)
    (top / ".config").write_text("CONFIG_SMP=y\n")
    linked = ["fs/pipe.o", "fs/super.o", "mm/vmscan.o", "lib/lz4.o"]
    subprocess.run(["ar", "cDPrST", "vmlinux.a", *linked], cwd=top, check=True)
    return top


def test_a_source_and_a_header_name_their_objects(src: Path) -> None:
    assert stale_objects(src, ["fs/pipe.c"]) == ["fs/pipe.o"]
    assert stale_objects(src, ["fs/internal.h"]) == ["fs/pipe.o", "fs/super.o"]
    changed = ["mm/vmscan.c", "include/trace/events/vmscan.h"]
    assert stale_objects(src, changed) == ["mm/vmscan.o"]
    assert stale_objects(src, ["fs/ntfs.c"]) == [], "this configuration does not compile it"
    assert stale_objects(src, []) == []


@pytest.mark.parametrize(
    "name",
    [
        "lib/lz4.c",  # the program that unpacks the kernel contains it, too
        "include/linux/mmzone.h",  # a generated header depends on it
        "kernel/bounds.c",
        "arch/x86/boot/misc.c",  # not in the archive
        "fs/Makefile",
        "fs/Kconfig",
        "lib/memcpy_64.S",
        "scripts/kallsyms.c",
        "tools/objtool/check.c",
        "usr/gen_init_cpio.c",
        "include/uapi/linux/fs.h",
        "arch/x86/include/asm/cpufeatures.h",
    ],
)
def test_of_some_files_only_make_can_tell(src: Path, name: str) -> None:
    assert stale_objects(src, [name]) is None
    assert stale_objects(src, ["fs/pipe.c", name]) is None


def test_another_makefile_or_an_option_needs_the_search(src: Path) -> None:
    (src / ".config").write_text("CONFIG_TRIM_UNUSED_KSYMS=y\n")
    assert stale_objects(src, ["fs/pipe.c"]) is None
    (src / ".config").write_text("# CONFIG_TRIM_UNUSED_KSYMS is not set\n")
    assert stale_objects(src, ["fs/pipe.c"]) == ["fs/pipe.o"]
    (src / "Makefile").write_text("build-dirs\t:= $(vmlinux-dirs)\n")  # Linux 5.10
    assert stale_objects(src, ["fs/pipe.c"]) is None


def test_without_an_archive_nothing_is_known(src: Path) -> None:
    (src / "vmlinux.a").unlink()
    assert stale_objects(src, ["fs/pipe.c"]) is None


def test_make_compiles_these_objects_alone(src: Path) -> None:
    for name in ("fs/pipe.o", "mm/vmscan.o"):
        os.utime(src / name, ns=(0, 0))
    assert search_limit([]) == "build-dir="
    objects = ["fs/pipe.o", "mm/vmscan.o"]
    assert search_limit(objects) == "single-goals=./fs/pipe.o ./mm/vmscan.o"
    touch_archive(src)
    assert not are_fresh(src, objects)
    (src / "fs/pipe.o").touch()
    assert not are_fresh(src, objects)
    (src / "mm/vmscan.o").touch()
    assert are_fresh(src, objects)


def test_the_fingerprint_covers_configuration_tools_and_place(
    src: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = fingerprint(src)
    (src / ".config").touch()
    assert fingerprint(src) == first, "the content counts"
    (src / ".config").write_text("CONFIG_SMP=n\n")
    assert fingerprint(src) != first
    (src / ".config").write_text("CONFIG_SMP=y\n")
    assert fingerprint(src) == first
    moved = src.rename(src.with_name("moved"))
    assert fingerprint(moved) != first
    moved.rename(src)
    monkeypatch.setattr("duet.kernels.stale.tool_versions", lambda: ("gcc 99", "ld 2"))
    assert fingerprint(src) != first


# Builds with a Makefile that searches as kbuild does, and counts its searches.

SEARCHING = """VERSION = 6
PATCHLEVEL = 1
SUBLEVEL = 7
Q = @
build = -f Kbuild obj
build-dir\t:= .
bzImage: vmlinux
	@mkdir -p arch/x86/boot && cp vmlinux arch/x86/boot/bzImage
vmlinux: vmlinux.a
	@echo "  LD      vmlinux.o"
	@printf '\\004\\0\\0\\0\\024\\0\\0\\0\\003\\0\\0\\0GNU\\0' > vmlinux
	@cat $$(ar t vmlinux.a) | sha1sum | head -c 20 >> vmlinux
	@echo >> vmlinux && cat $$(ar t vmlinux.a) >> vmlinux
	@echo "ffffffff81000000 T _text" > System.map
vmlinux.a: $(build-dir)
	@[ -e $@ ] || ar cDPrST $@ fs/super.o mm/vmscan.o
prepare:
$(build-dir): prepare
	$(Q)$(MAKE) $(build)=$@ need-builtin=1 need-modorder=1 $(single-goals)
.PHONY: $(build-dir) prepare
allnoconfig:
	@cp $(KCONFIG_ALLCONFIG) $(KCONFIG_CONFIG)
"""
KBUILD = """search: fs/super.o mm/vmscan.o
	@echo searched >> searches
%.o: %.c .config
	@echo "  CC      $@"
	@! grep "^error" $< >&2
	@cp $< $@
	@echo "deps := $<" > $(dir $@).$(notdir $@).cmd
"""
FILES = {**miniature.FILES, "Makefile": SEARCHING, "Kbuild": KBUILD}
STOCK = ArmSpec("02-toy", "stock")
SRCU = ArmSpec("02-toy", "srcu", (Path("srcu.patch"),))


@pytest.fixture
def settings(tmp_path: Path) -> KernelSettings:
    return miniature.make_settings(tmp_path, FILES)


def searches(settings: KernelSettings) -> int:
    (path,) = settings.cache.glob("tree/*/src/searches")
    return len(path.read_text().splitlines())


def test_one_file_is_compiled_without_a_search_into_the_same_kernel(
    settings: KernelSettings, tmp_path: Path
) -> None:
    build([STOCK], settings)
    assert searches(settings) == 1, "a new tree"
    (quick,) = build([SRCU], settings)
    assert searches(settings) == 1 and quick.manifest.objects == 1
    fresh = replace(settings, cache=tmp_path / "other")
    (full,) = build([SRCU], fresh)
    assert searches(fresh) == 1 and full.key == quick.key
    assert full.vmlinux.read_bytes() == quick.vmlinux.read_bytes()


def test_a_build_that_failed_or_another_configuration_is_followed_by_a_search(
    settings: KernelSettings,
) -> None:
    build([STOCK], settings)
    bad = settings.patches / "02-toy" / "bad.patch"
    bad.write_text(
        miniature.patch("mm: bad", miniature.replace("mm/vmscan.c", miniature.VMSCAN, 12, "error"))
    )
    with pytest.raises(CompileFails, match="wanted to make bzImage, but make failed"):
        build([ArmSpec("02-toy", "bad", (Path("bad.patch"),))], settings)
    assert searches(settings) == 1
    build([SRCU], settings)
    assert searches(settings) == 2
    (settings.patches / "bases" / "6.1" / "base.config").write_text("CONFIG_SMP=n\n")
    build([SRCU], settings)
    assert searches(settings) == 3


def test_a_tree_of_an_older_version_is_searched_once(settings: KernelSettings) -> None:
    build([STOCK], settings)
    (path,) = settings.cache.glob("tree/*/stands.json")
    standing = json.loads(path.read_text())
    del standing["compiled"]
    path.write_text(json.dumps(standing))
    build([SRCU], settings)
    assert searches(settings) == 2
    third = settings.patches / "02-toy" / "third.patch"
    third.write_text(
        miniature.patch("mm: 3", miniature.replace("mm/vmscan.c", miniature.VMSCAN, 20, "third"))
    )
    build([ArmSpec("02-toy", "third", (Path("third.patch"),))], settings)
    assert searches(settings) == 2
