# SPDX-License-Identifier: GPL-2.0-or-later
"""What `duet reproduce` says before it boots anything: differences, and which claims it checks."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest

from duet.bundle import ArmEntry, Figures, Manifest, open_bundle
from duet.bundle.decoding import differences
from duet.cli.entry import main
from duet.cli.reproduce import (
    CheckedClaim,
    claims_about,
    difference_lines,
    request_of,
    verdict_of,
)
from duet.lessons.load import load
from duet.measure.claims import claim_text
from duet.runs.compare import figure_rows
from tests.backend.cli.bundles import recording, rewritten

Printed = pytest.CaptureFixture[str]


def old() -> Manifest:
    return open_bundle(recording()).manifest


def test_a_recording_does_not_differ_from_itself() -> None:
    assert differences(old(), old()) == []
    assert difference_lines([]) == [
        "Kernels, config, patches, host and programs equal those of the recording."
    ]


def test_kernel_and_config_come_before_host_and_programs() -> None:
    one = old()

    def other(arm: ArmEntry) -> ArmEntry:
        listed = arm.kernel["patches"]
        assert isinstance(listed, list) and isinstance(listed[0], dict)
        patches = [{**listed[0], "sha256": "f" * 64}, *listed[1:]]
        return arm.model_copy(
            update={
                "kernel_version": "6.1.200",
                "config_sha256": "a" * 64,
                "kernel": {**arm.kernel, "patches": patches, "compiler": "gcc 14"},
            }
        )

    two = one.model_copy(
        update={
            "host": {**one.host, "cpus": "64"},
            "versions": {**one.versions, "qemu": "9.0"},
            "params": {**one.params, "nr": 64},
            "seed": 2,
            "arms": (other(one.arms[0]), *one.arms[1:]),
        }
    )
    found = differences(one, two)
    assert [d.of for d in found] == [
        "run", "run", "kernel", "config", "patches", "build", "host", "programs",
    ]  # fmt: skip
    told_all = "\n".join(difference_lines(found))
    assert "kernel: kernel version of scan-2013: 6.1.192, now 6.1.200" in told_all
    assert "run: nr: 32, now 64" in told_all
    patch = one.arms[0].kernel["patches"][0]  # type: ignore[index]
    assert f"{patch['path']} of scan-2013: {patch['sha256'][:12]}, now f" in told_all


def test_a_patch_that_was_moved_is_no_difference() -> None:
    one = old()
    patches = cast("list[dict[str, str]]", one.arms[0].kernel["patches"])
    moved = [{**patch, "path": f"04-extent-shrinker/{patch['path']}"} for patch in patches]
    arm = one.arms[0].model_copy(update={"kernel": {**one.arms[0].kernel, "patches": moved}})
    assert differences(one, one.model_copy(update={"arms": (arm, *one.arms[1:])})) == []


def test_other_arms_are_a_difference_of_the_run() -> None:
    one = old()
    two = one.model_copy(update={"arms": one.arms[:2]})
    assert [(d.of, d.what) for d in differences(one, two)] == [("run", "arms")]


def test_a_difference_of_length_names_its_unit() -> None:
    (found,) = differences(old(), old().model_copy(update={"window_ms": 7}))
    assert found.what == "recorded length (ms)" and found.now == "7"


@pytest.mark.parametrize(
    ("name", "own", "some"),
    [
        ("01-shrinker-bitmaps/recorded/300-containers.duet", True, "drop_last_us after to before"),
        ("03-inode-recycling/recorded/batch-32.duet", True, "wait-at-recycle to stock batch=32"),
        ("02-grace-periods/recorded/9-hogs.duet", False, "srcu to rwsem hogs=9 vcpus=2 wall"),
        ("04-extent-shrinker/recorded/one-file.duet", False, ""),
    ],
)
def test_claims_about_a_recording_are_found(name: str, own: bool, some: str) -> None:
    bundle = open_bundle(recording(name))
    request = request_of(load(bundle.manifest.lesson), bundle)
    claims, own_knobs = claims_about(request, bundle.manifest.shift)
    assert own_knobs is own
    assert bool(claims) is bool(some)
    assert not some or any(some in claim_text(claim) for claim in claims)
    for claim in claims:
        assert claim.clock == bundle.manifest.clock
        assert claim.shift == bundle.manifest.shift


def test_the_verdict_says_how_many_and_on_which_kernels() -> None:
    claim = load("02-grace-periods").lesson.claims[0]
    good, bad = CheckedClaim(claim, None, False), CheckedClaim(claim, "it is 0.9", True)
    assert verdict_of([good, good], True, []) == "All 2 claims still hold, on the same kernels."
    one = old()
    other = one.model_copy(
        update={"arms": (one.arms[0].model_copy(update={"config_sha256": ""}), *one.arms[1:])}
    )
    said = verdict_of([good, bad], True, differences(one, other))
    assert said == "1 of 2 claims do not hold here, on other kernels than the recording's."
    assert "No claim" in verdict_of([], True, [])
    assert "not measured" in verdict_of([], False, [])
    assert str(bad).endswith("(with its own knobs): it is 0.9")


def test_figures_stand_side_by_side() -> None:
    one = Figures(metrics={"ops": 10, "grace_periods": 0}, tallies={"x": 4.0}, ops=10)
    two = Figures(metrics={"ops": 9, "grace_periods": 0}, tallies={"x": 5.0}, ops=9)
    assert figure_rows({"a": one}, {"a": two}) == [
        {"arm": "a", "figure": "ops", "recorded": 10, "now": 9, "ratio": 0.9},
        {"arm": "a", "figure": "tallies.x", "recorded": 4.0, "now": 5.0, "ratio": 1.25},
    ]


def test_what_cannot_be_run_here_is_refused_before_anything_boots(
    tmp_path: Path, capsys: Printed
) -> None:
    bundle = open_bundle(recording())
    for change, words in (
        ({"workload": "nothing"}, "no workload 'nothing'"),
        ({"params": {**bundle.manifest.params, "nr": 10**6}}, "'nr' must be from"),
        ({"lesson": "77-nothing"}, "there is no lesson"),
    ):
        path = rewritten(
            tmp_path / "x.duet", bundle, lambda m, change=change: m.model_copy(update=change)
        )
        assert main(["reproduce", str(path)]) == 2
        assert words in capsys.readouterr().err
    assert main(["reproduce", str(path), "--out", str(path)]) == 2
    assert "already exists" in capsys.readouterr().err
    assert main(["reproduce", str(tmp_path / "none.duet")]) == 2
    assert "there is no recording" in capsys.readouterr().err


def test_a_knob_that_the_lesson_lost_is_left_out(tmp_path: Path) -> None:
    bundle = open_bundle(recording())
    path = rewritten(
        tmp_path / "x.duet",
        bundle,
        lambda m: m.model_copy(update={"params": {**m.params, "gone": 3}}),
    )
    request = request_of(load(bundle.manifest.lesson), open_bundle(path))
    assert "gone" not in request.params and request.params["nr"] == 32
