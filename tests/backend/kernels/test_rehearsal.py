# SPDX-License-Identifier: GPL-2.0-or-later
"""What is known before a kernel is compiled: patches that do not fit, options that are lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from duet.kernels import ArmSpec, KernelSettings, build
from duet.kernels.bases import ASKED
from duet.kernels.compiler import OptionLost
from duet.kernels.diffs import PatchFails
from duet.kernels.rehearsal import lost_options, rehearse
from tests.support.miniature import FILES, VMSCAN, diff, make_settings, patch, replace

STOCK = ArmSpec("02-toy", "stock")
LATE = ArmSpec("02-toy", "late", (Path("late.patch"),))


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KernelSettings:
    monkeypatch.setenv("HOME", str(tmp_path))
    kconfig = "config SMP\n\tbool\nconfig PREEMPT_NONE\n\tbool\nconfig PREEMPT_LAZY\n\tbool\n"
    made = make_settings(tmp_path, {**FILES, "kernel/Kconfig": kconfig})
    stale = patch("mm: late", replace("mm/vmscan.c", VMSCAN.replace("line 8\n", "x\n"), 10, "y"))
    (made.patches / "02-toy" / "late.patch").write_text(stale)
    return made


def test_a_patch_that_does_not_fit_is_known_before_anything_is_compiled(
    settings: KernelSettings,
) -> None:
    said: list[str] = []
    with pytest.raises(
        PatchFails, match=r"late\.patch, but hunk 1 .* does not fit mm/vmscan\.c"
    ) as caught:
        rehearse([STOCK, LATE], settings, said.append)
    for word in ("--with", "--base", "--tree"):
        assert word in caught.value.remedy
    assert said == ["unpacking the source of 6.1, to try the patches on it"]
    tree = settings.tree(settings.base, None, settings.tarball(settings.base).sha256)
    assert tree.src.is_dir() and not list(tree.src.rglob("*.o")) and tree.objects() == 0
    assert (tree.src / "mm/vmscan.c").read_text() == VMSCAN, "the tree stays as it is"
    assert rehearse([STOCK], settings, said.append) == [] and len(said) == 1


def lenient(settings: KernelSettings, *lines: str, asked: str = "") -> None:
    """The base may lack options."""
    folder = settings.patches / "bases" / "6.1"
    text = (folder / "base.yaml").read_text()
    if asked:
        (folder / ASKED).write_text(asked)
        text = text.replace("[base.config]", f"[base.config, {ASKED}]")
    (folder / "base.yaml").write_text(text + "lenient: true\n")
    (folder / "base.config").write_text("".join(f"{line}\n" for line in lines))


# The miniature's configuration loses CONFIG_LOST_*, and has nothing of its own.


def test_options_that_are_lost_are_said_before_and_after_the_build(
    settings: KernelSettings,
) -> None:
    names = ["CONFIG_SMP=y", *(f"CONFIG_LOST_{n}=y" for n in range(8)), "CONFIG_LOST_M=m"]
    names.append("CONFIG_CC_LOST=y")
    lenient(settings, *names)
    (said,) = rehearse([STOCK], settings, lambda sentence: None)
    assert said == (
        "toy is built without 8 options of its configuration, which its source lacks or sets "
        "differently: LOST_0, LOST_1, LOST_2, LOST_3, LOST_4, LOST_5 and 2 others"
    )
    (image,) = build([STOCK], settings)
    assert lost_options(STOCK, image, settings) == said
    assert rehearse([STOCK], settings, lambda sentence: None) == [], "there is nothing to build"


def test_another_way_of_preemption_is_named(settings: KernelSettings) -> None:
    lenient(settings, "CONFIG_SMP=y", "CONFIG_PREEMPT_NONE=y")
    makefile = (
        "allnoconfig:\n\t@sed 's/CONFIG_PREEMPT_NONE/CONFIG_PREEMPT_LAZY/' $(KCONFIG_ALLCONFIG) "
        "> $(KCONFIG_CONFIG)\n"
    )
    rehearse([STOCK], settings, lambda sentence: None)
    tree = settings.tree(settings.base, None, settings.tarball(settings.base).sha256)
    text = (tree.src / "Makefile").read_text()
    (tree.src / "Makefile").write_text(text[: text.index("allnoconfig:")] + makefile)
    (tree.src / ".config.duet").unlink()
    (said,) = rehearse([STOCK], settings, lambda sentence: None)
    assert said.endswith("1 option of its configuration, which its source lacks or sets "
                         "differently: PREEMPT_NONE (it has PREEMPT_LAZY)")  # fmt: skip


def test_an_option_that_somebody_named_has_to_stick_where_the_source_knows_it(
    settings: KernelSettings,
) -> None:
    lenient(settings, "CONFIG_SMP=y", asked="CONFIG_LOST_NEW=y\n")
    with pytest.raises(OptionLost, match=r"--config names CONFIG_LOST_NEW, but neither the source"):
        rehearse([STOCK], settings, lambda sentence: None)
    kconfig = "config SMP\n\tbool\nconfig PREEMPT_NONE\n\tbool\nconfig PREEMPT_LAZY\n\tbool\n"
    more = patch("new", diff("kernel/Kconfig", kconfig, kconfig + "config LOST_NEW\n"))
    (settings.patches / "02-toy" / "new.patch").write_text(more)
    new = ArmSpec("02-toy", "new", (Path("new.patch"),))
    said = rehearse([STOCK, new], settings, lambda sentence: None)
    assert len(said) == 1, "a patch brings it; stock does not have it"
    tree = settings.tree(settings.base, None, settings.tarball(settings.base).sha256)
    (tree.src / "kernel/Kconfig").write_text("config LOST_NEW\n\tbool\n\tdepends on MMU\n")
    with pytest.raises(OptionLost, match=r"--config wants CONFIG_LOST_NEW=y, but .* gave n"):
        rehearse([STOCK], settings, lambda sentence: None)
