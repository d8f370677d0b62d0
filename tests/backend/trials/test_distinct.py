# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernels of a trial that turn out to be one: nothing is measured, and a sentence says why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace as replaced
from pathlib import Path

import pytest

from duet.cli.trial_run import trial_diffs
from duet.kernels import ArmSpec, KernelSettings, build
from duet.kernels.image import SameKernel
from duet.kernels.rehearsal import rehearse
from duet.trials.command import Command
from duet.trials.kernels import by_build, by_source, distinct, unchecked
from duet.trials.mails import Patch
from duet.trials.spec import Trial, TrialArm
from tests.support.miniature import FILES, VMSCAN, diff, make_settings, patch, replace

HUGE = "int huge;\n"
KCONFIG = "config OLD\n\tbool\n"
SUPER = "super\n#ifdef CONFIG_QUOTA\nquota\n#endif\nend\n"
TEXTS = {
    "mm/huge.c": HUGE,
    "mm/Makefile": "obj-y := vmscan.o\nobj-$(CONFIG_HUGEPAGE) += huge.o\n",
    "mm/Kconfig": KCONFIG,
    "include/linux/lonely.h": "int lonely;\n",
    "Documentation/mm.rst": "words\n",
    "fs/super.c": SUPER,
}
MODE = "diff --git a/mm/huge.c b/mm/huge.c\nold mode 100644\nnew mode 100755\n"
CODE = replace("mm/vmscan.c", VMSCAN, 10, "other")
PATCHES = {
    "documentation": (diff("Documentation/mm.rst", "words\n", "other words\n"),
                      "Documentation/mm.rst is not part of a kernel"),
    "comment": (diff("mm/huge.c", HUGE, "/* why */\n" + HUGE),
                "only comments or blanks in mm/huge.c have changed"),
    "mode": (MODE, "only the mode of mm/huge.c has changed"),
    "uncompiled": (diff("mm/huge.c", HUGE, "int huger;\n"),
                   r"this configuration does not compile mm/huge.c \(it needs CONFIG_HUGEPAGE\)"),
    "header": (diff("include/linux/lonely.h", "int lonely;\n", "long lonely;\n"),
               "no file that this configuration compiles includes include/linux/lonely.h"),
    "hidden": (diff("fs/super.c", SUPER, SUPER.replace("quota\n", "quotas\n")),
               "the changed lines of fs/super.c are under #ifdef CONFIG_QUOTA, which is off"),
    "option": (diff("mm/Kconfig", KCONFIG, KCONFIG + "config NEW\n\tdefault y\n"),
               "its new option CONFIG_NEW is off"),
    "code": (CODE, ""),
}  # fmt: skip
BEFORE_A_BUILD = ("documentation", "comment", "mode")
OPTIONS = {"uncompiled": "HUGEPAGE", "hidden": "QUOTA", "option": "NEW"}
Specs = Mapping[str, ArmSpec]


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KernelSettings:
    monkeypatch.setenv("HOME", str(tmp_path))
    makefile = FILES["Makefile"].replace("@cp $< $@", "@sed '/ifdef/,/endif/d' $< > $@")
    return make_settings(tmp_path, {**FILES, **TEXTS, "Makefile": makefile})


def trial_of(settings: KernelSettings, *names: str) -> tuple[Trial, Specs]:
    """Stock, and a kernel for each of these patches."""
    folder = settings.patches / "02-toy"
    for name in names:
        (folder / f"{name}.patch").write_text(patch(name, PATCHES[name][0]))
    specs = {n: ArmSpec("02-toy", n, (folder / f"{n}.patch",), instrumented=False) for n in names}
    specs = {"stock": ArmSpec("02-toy", "stock", instrumented=False), **specs}
    arms = tuple(TrialArm(name, name, "") for name in specs)
    return Trial("t", arms, Command("x")), specs


def whole(trial: Trial, specs: Specs, settings: KernelSettings) -> Trial:
    """As `duet try` does it."""
    rehearse(list(specs.values()), settings, lambda sentence: None)
    trial = distinct(trial, by_source(specs, settings))
    specs = {arm.name: specs[arm.name] for arm in trial.arms}
    images = dict(zip(specs, build(list(specs.values()), settings), strict=True))
    return distinct(trial, by_build(specs, images, settings))


@pytest.mark.parametrize("name", [name for name in PATCHES if name != "code"])
def test_a_patch_that_changes_no_kernel_is_not_measured(
    name: str, settings: KernelSettings
) -> None:
    trial, specs = trial_of(settings, name)
    wanted = rf"^both kernels \(stock, {name}\) are the same build, because {PATCHES[name][1]}\.$"
    with pytest.raises(SameKernel, match=wanted) as caught:
        whole(trial, specs, settings)
    option = OPTIONS.get(name)
    assert (f"--config {option}=y" in caught.value.remedy) is (option is not None)
    built = list((settings.cache / "kernels").glob("*")) if settings.cache.is_dir() else []
    assert (built == []) is (name in BEFORE_A_BUILD), "what is known before needs no build"


def test_the_others_are_compared_and_the_same_one_is_named(settings: KernelSettings) -> None:
    trial, specs = trial_of(settings, "comment", "code", "uncompiled")
    left = whole(trial, specs, settings)
    assert [arm.name for arm in left.arms] == ["stock", "code"]
    first, second = left.said
    assert first.startswith(
        "both kernels (stock, comment) are the same build, because only comments"
    )
    assert first.endswith("; comment is left out") and "(it needs CONFIG_HUGEPAGE)" in second


def test_a_patch_with_code_among_comments_is_measured(settings: KernelSettings) -> None:
    trial, specs = trial_of(settings, "code")
    assert whole(trial, specs, settings) == trial


def test_a_check_is_of_what_is_compiled(settings: KernelSettings) -> None:
    trial, specs = trial_of(settings, "comment", "code", "uncompiled")
    rehearse(list(specs.values()), settings, lambda sentence: None)
    assert unchecked(trial, specs, settings).keys() == {"comment"}
    images = dict(zip(specs, build(list(specs.values()), settings), strict=True))
    found = unchecked(trial, specs, settings, images)
    assert found.keys() == {"comment", "uncompiled"}
    assert found["uncompiled"][1] == "CONFIG_HUGEPAGE"


def test_what_kernels_differ_in_is_read_from_whole_files(settings: KernelSettings) -> None:
    trial, specs = trial_of(settings, "code", "documentation")
    own = tuple(Patch(one, "", "", "", PATCHES[one][0]) for one in ("code", "documentation"))
    arms = tuple(replaced(arm, patches=own[n : n + 1]) for n, arm in enumerate(trial.arms, -1))
    trial = replaced(trial, arms=(trial.arms[0], *arms[1:]))
    assert trial_diffs(trial, specs, settings) == [one.diff for one in own], "no source is there"
    rehearse(list(specs.values()), settings, lambda sentence: None)
    (vmscan, words) = trial_diffs(trial, specs, settings)
    assert "@@ -1,40 +1,40 @@\n line 1\n" in vmscan and "Documentation" in words
