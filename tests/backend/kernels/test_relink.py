# SPDX-License-Identifier: GPL-2.0-or-later
"""Other links of the same objects, with the real gcc, ar and ld on a kernel in miniature."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from duet.base.errors import InfraError, KernelError
from duet.kernels import (
    ArmSpec,
    BuildProgress,
    KernelImage,
    KernelSettings,
    build,
    plan,
)
from duet.kernels.links import find_layouts, layout_key, relink
from duet.kernels.tree import BuildBusy, build_lock
from tests.support import miniature

# Each line of a source becomes a function, and each function that is a word an initcall.
MAKEFILE = r"""VERSION = 6
PATCHLEVEL = 1
SUBLEVEL = 7
KBUILD_LDS = arch/x86/kernel/vmlinux.lds
LINE = s/^line \(.*\)/int line_\1(void) { return \1; }/
CALL = void *init_\1 __attribute__((section(".initcall"), used)) = \1;
WORD = s/^\([a-z]*\)$$/int \1(void) { return 0; } $(CALL)/
OBJECTS = $(patsubst %.c,%.o,$(sort $(wildcard */*.c)))
bzImage: vmlinux
	@mkdir -p arch/x86/boot && cp vmlinux arch/x86/boot/bzImage
vmlinux: vmlinux.a $(KBUILD_LDS)
	@echo "  LD      vmlinux.o"
	@ld --build-id=sha1 -z noexecstack --script=./$(KBUILD_LDS) -o $@ --whole-archive vmlinux.a
	@nm -n $@ > System.map
vmlinux.a: $(OBJECTS)
	@rm -f $@ && ar cDrsT $@ $(OBJECTS)
%.o: %.c
	@echo "  CC      $@"
	@sed -e '$(LINE)' -e '$(WORD)' $< | gcc -O2 -falign-functions=16 -xc -c -o $@ -
	@echo "deps := $<" > $(dir $@).$(notdir $@).cmd
allnoconfig:
	@cp $(KCONFIG_ALLCONFIG) $(KCONFIG_CONFIG)
"""
SCRIPT = """SECTIONS {
 . = 0x1000000;
 .text : { *(.text.hot .text.hot.*) *(.text .text.fixup) *(.text.unlikely .text.unlikely.*) }
 .initcall : { *(.initcall) }
 .note : { *(.note.gnu.build-id) }
}
"""
WORDS = (
    "fork",
    "exit",
    "wait",
    "slab",
    "inode",
    "dentry",
    "mount",
    "super",
    "open",
    "read",
)
FILES = {
    "Makefile": MAKEFILE,
    "arch/x86/kernel/vmlinux.lds": SCRIPT,
    "mm/vmscan.c": miniature.VMSCAN,
    **{f"fs/{word}.c": f"{word}\n" for word in WORDS},
}
STOCK = ArmSpec("02-toy", "stock")
SRCU = ArmSpec("02-toy", "srcu", (Path("srcu.patch"),))


@pytest.fixture
def settings(tmp_path: Path) -> KernelSettings:
    return miniature.make_settings(tmp_path, FILES)


def initcalls(image: KernelImage) -> list[int]:
    """The table of the linked kernel: addresses in the order in which they would be called."""
    shown = subprocess.run(
        ["objcopy", "-O", "binary", "-j", ".initcall", image.vmlinux, "/dev/stdout"],
        capture_output=True,
        check=True,
    ).stdout
    return [int.from_bytes(shown[at : at + 8], "little") for at in range(0, len(shown), 8)]


def called(image: KernelImage) -> list[str]:
    names = {address: name for name, address in image.symbols().items() if "init_" not in name}
    return [names[address] for address in initcalls(image)]


def tree_of(settings: KernelSettings) -> Path:
    (tree,) = (settings.cache / "tree").iterdir()
    return tree


def test_functions_move_and_initcalls_stay_in_order(settings: KernelSettings) -> None:
    reported: list[BuildProgress] = []
    (usual,) = build([SRCU], settings)
    layouts = relink([SRCU], 5, settings, on_progress=reported.append)["srcu"]
    assert [image.key for image in layouts] == [layout_key(usual.key, n) for n in range(1, 6)]
    assert max(step.objects_done for step in reported) == 0, "nothing was compiled"
    assert [step.note for step in reported if "link" in step.note][-1].startswith("layout 5 of 5")
    places = [{name: image.symbols()[name] for name in WORDS} for image in (usual, *layouts)]
    assert len({tuple(sorted(place, key=place.__getitem__)) for place in places}) == 6
    for word in WORDS:
        assert len({place[word] % 64 for place in places}) > 1, "no function keeps its line's place"
    assert {tuple(called(image)) for image in layouts} == {tuple(called(usual))}
    for image in layouts:
        assert image.symbols().keys() == usual.symbols().keys()
        assert image.manifest.patches == usual.manifest.patches
        assert image.manifest.objects == 0


def test_what_is_stored_is_not_linked_again(settings: KernelSettings) -> None:
    first = relink([SRCU], 5, settings)["srcu"]
    with build_lock(settings.cache / "build.lock", wait_s=0, on_wait=lambda note: None):
        assert relink([SRCU], 5, replace(settings, lock_wait_s=0))["srcu"] == first
        with pytest.raises(BuildBusy):
            relink([SRCU], 6, replace(settings, lock_wait_s=0))
    times = [image.bzimage.stat().st_mtime_ns for image in first]
    shutil.rmtree(first[1].folder)
    again = relink([SRCU], 5, settings)["srcu"]
    kept = [
        image.bzimage.stat().st_mtime_ns == was for image, was in zip(again, times, strict=True)
    ]
    assert kept == [True, False, True, True, True]
    assert again[1].symbols() == first[1].symbols(), "the same number is the same order"


def test_a_build_after_a_relink_gives_the_usual_link(settings: KernelSettings) -> None:
    (usual,) = build([SRCU], settings)
    was = usual.bzimage.read_bytes()
    relink([SRCU], 5, settings)
    assert not (tree_of(settings) / "src/vmlinux").exists()
    assert not (tree_of(settings) / "building").exists()
    shutil.rmtree(usual.folder)
    assert build([SRCU], settings)[0].bzimage.read_bytes() == was


def test_objects_of_another_kernel_are_refused(settings: KernelSettings) -> None:
    (usual,) = build([STOCK], settings)
    build([SRCU], settings)
    source = tree_of(settings) / "src/fs/fork.c"
    source.write_text("spoon\n")
    with pytest.raises(KernelError, match="its objects now give a different kernel") as caught:
        relink([STOCK], 5, settings)
    assert usual.key in caught.value.remedy


def test_a_link_that_fails_leaves_a_tree_that_is_swept(
    settings: KernelSettings,
) -> None:
    (usual,) = build([SRCU], settings)
    script = tree_of(settings) / "src/arch/x86/kernel/vmlinux.lds"
    script.write_text(SCRIPT.replace(".text.fixup", ".text.other"))
    with pytest.raises(KernelError, match="0 times"):
        relink([SRCU], 5, settings)
    script.write_text(SCRIPT)
    shutil.rmtree(usual.folder)
    assert len(relink([SRCU], 5, settings)["srcu"]) == 5
    assert build([SRCU], settings)[0].manifest.key == usual.key


def test_a_kernel_of_one_object_cannot_be_reordered(settings: KernelSettings) -> None:
    one = MAKEFILE.replace("--whole-archive vmlinux.a", "--whole-archive whole.o").replace(
        "\t@ld --build", "\t@ld -r -o whole.o --whole-archive vmlinux.a\n\t@ld --build"
    )
    base = settings.base.tarball
    miniature.make_tarball(base, FILES | {"Makefile": one})
    with pytest.raises(KernelError, match="its order did not change"):
        relink([SRCU], 5, settings)


def test_layouts_that_are_not_linked_are_said(settings: KernelSettings) -> None:
    build([SRCU], settings)
    with pytest.raises(InfraError, match="wanted 5 layouts of srcu, but only 0 are stored"):
        find_layouts(SRCU, 5, settings)
    assert plan(SRCU, settings) != plan(STOCK, settings)
