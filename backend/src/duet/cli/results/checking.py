# SPDX-License-Identifier: GPL-2.0-or-later
"""What `duet check` prints with `--json`, and writes as check.json."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from duet.cli.results.keys import key
from duet.cli.results.trying import TriedPatch, TriedSource


@dataclass(frozen=True, slots=True)
class CheckedSuite:
    """One suite of KUnit."""

    suite: str
    passed: int = key()
    skipped: int = key()
    failed: Sequence[str] = key(shape="[test: reason]")
    ended: bool = key()


@dataclass(frozen=True, slots=True)
class CheckedArm:
    """One kernel after its stress."""

    arm: str
    clean: bool
    judged: bool = key("false: it did not boot and did not say why, or the command never ran")
    found: str = key("in words")
    patches: Sequence[str] = key(shape="[subject]")
    kernel: str = key("version")
    image: str = key("key of the debug kernel")
    exercised: Sequence[str] = key(shape="[path prefix]")
    not_exercised: Sequence[str] = key(shape="[file]")
    stressors: Sequence[str] = key("options of stress-ng")
    scripts: Sequence[str] = key()
    kunit: Sequence[CheckedSuite] = key()
    selftests_not_run: Sequence[str] = key(shape="[folder of tools/testing/selftests]")
    kunit_silent: Sequence[str] = key("suites that fit, but gave no result")
    rounds: int | None = key("null: the guest did not come to its end")
    work: Mapping[str, int] = key(shape="{what: number}")
    complaints: Sequence[str] = key(shape="[line of the kernel]")
    failures: Sequence[str] = key(shape="[line of a program]")
    races_of_base: Sequence[str] = key("not counted; only with --kcsan")
    races_elsewhere: Sequence[str] = key("not counted: in files that no patch touches")
    console: str = key("path")
    source: TriedSource | None = key("null: the base is all there is to say")
    made_of: Sequence[TriedPatch] = key()


@dataclass(frozen=True, slots=True)
class CheckResult:
    """Of `duet check`."""

    name: str
    clean: bool
    command: str | None = key("null without --run")
    seconds: int = key()
    arms: Sequence[CheckedArm] = key()
    report: str = key("path")
