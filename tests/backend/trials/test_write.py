# SPDX-License-Identifier: GPL-2.0-or-later
"""A trial is written as a lesson that every verb takes."""

from __future__ import annotations

import gzip
import shlex
from dataclasses import fields, replace
from pathlib import Path

import pytest
import yaml

from duet.base.errors import InputError
from duet.base.settings import repo_root
from duet.cli import check as check_verb
from duet.cli import entry
from duet.cli.app import app
from duet.kernels import KernelSettings
from duet.kernels.arms import arm_spec
from duet.kernels.bases import ASKED
from duet.kernels.recipe import patch_commit, read_fragments
from duet.lessons.load import load, read_lesson
from duet.lessons.plan import plan_text
from duet.lint.lessons import lint
from duet.measure.provenance import source_facts
from duet.trials.ask import (
    ARGUMENTS,
    OPTIONS,
    Asked,
    check_line,
    read_trial,
    try_line,
    without_folders,
)
from duet.trials.spec import TrialBase
from duet.trials.tracing import Tracing
from duet.trials.write import Times, check_target, save_lesson, write_trial
from tests.backend.trials.commits import commits
from tests.backend.trials.made import KNOWN, PATCH, TRACING, trial

OWED = (
    "prediction",
    "question",
    "the folder",
    "not checked",
)


def test_what_is_written_is_a_lesson(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = trial(tmp_path)
    assert (made.slug, made.headline and made.headline.unit) == ("90-wake-all", "bogo ops/s")
    folder = tmp_path / made.name
    write_trial(folder, made, TRACING, Times(800, 0.05))
    monkeypatch.setenv("DUET_LESSONS", str(folder))
    lesson = load("90-wake-all").lesson
    assert [arm.name for arm in lesson.arms] == ["stock", "wake-all"]
    assert lesson.instrumentation == "none" and lesson.view == "timeline"
    assert list(lesson.metrics)[:2] == ["headline", "elapsed_ms"]
    assert lesson.operation is not None and lesson.operation.open == "pipe_read"
    assert [scene.id for scene in lesson.scenes] == ["whole", "calls", "cpus", "patch", "verdict"]
    assert lesson.scenes[0].window_ms == 800 and lesson.scenes[1].window_ms == 1
    assert "wake every reader" in load("90-wake-all").content()
    assert "it may be inlined" in load("90-wake-all").content()


def test_the_lint_finds_what_a_lesson_owes_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = trial(tmp_path)
    folder = tmp_path / made.name
    write_trial(folder, made, Tracing(), Times())
    monkeypatch.setenv("DUET_LESSONS", str(folder))
    found = [one.sentence for one in lint(["90-wake-all"]).problems]
    left = [s for s in found if not any(owed in s for owed in OWED)]
    assert found and not left, left


def test_patches_that_every_kernel_carries_stand_below_and_are_not_traced(tmp_path: Path) -> None:
    both = repo_root() / "kernel-patches/bases/6.1/both"
    made = trial(tmp_path, shared=(both,))
    stock, tried = (arm.patches for arm in made.arms)
    assert len(stock) == len(list(both.glob("*.patch"))) and tried[:-1] == stock
    assert [patch.subject for patch in made.own_patches] == [tried[-1].subject]


def test_a_trial_of_other_kernels_begins_anew(tmp_path: Path) -> None:
    made = trial(tmp_path)
    folder = tmp_path / made.name
    lesson = write_trial(folder, made, Tracing(), Times())
    recorded = lesson / "recorded" / "first.duet"
    recorded.parent.mkdir()
    recorded.write_bytes(b"")
    write_trial(folder, made, TRACING, Times(1, 1))
    assert recorded.exists()
    write_trial(folder, trial(tmp_path, times=2), Tracing(), Times())
    assert not recorded.exists()


def test_a_base_of_its_own_is_written_beside_it(tmp_path: Path) -> None:
    made = trial(tmp_path)
    config = tmp_path / "own.config"
    config.write_text("CONFIG_X=y\n")
    base = TrialBase("mine", "Linux 6.6.1", "6.6", {"tarball": "/nowhere/linux.tar.xz"}, (config,))
    object.__setattr__(made, "bases", (base,))
    folder = tmp_path / made.name
    write_trial(folder, made, Tracing(), Times())
    said = yaml.safe_load((folder / "kernel-patches/bases/mine/base.yaml").read_text())
    assert said["series"] == "6.6" and said["lenient"] is True
    assert (folder / "kernel-patches/bases/mine" / said["config"][0]).read_text() == "CONFIG_X=y\n"


def test_it_is_saved_as_a_lesson(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = trial(tmp_path)
    write_trial(tmp_path / made.name, made, TRACING, Times())
    target = tmp_path / "mine" / "lessons" / "06-my-question"
    lesson, patches = save_lesson(tmp_path / made.name, made, target)
    assert (lesson / "story.yaml").is_file() and list(patches.glob("*.patch"))
    monkeypatch.setenv("DUET_LESSONS", str(tmp_path / "mine"))
    assert load("06-my-question").patch_files("wake-all")[0].is_file()
    with pytest.raises(InputError, match="already exists"):
        check_target(target)
    with pytest.raises(InputError, match="such as lessons/06-my-question"):
        check_target(tmp_path / "06-elsewhere")


@pytest.mark.parametrize(
    "more, sentence",
    [
        ({"patches": ()}, "only one was named"),
        ({"base": "6.1", "trees": (Path(),)}, "both name the source"),
        ({"base": "/no/such"}, "no base and no tarball"),
        ({"metric": "rate=[0-9]+"}, "a group `value`"),
        ({"metric": "(?P<value>["}, "wants a regular expression"),
        ({"trees": (Path("/"),)}, "no kernel's|there is none"),
        ({"commits": ("no..such",)}, "git cannot find them"),
    ],
)
def test_what_makes_no_trial_is_refused(
    tmp_path: Path, more: dict[str, object], sentence: str
) -> None:
    asked = Asked(**{"run": "sh -c true", "patches": (PATCH,), **more})  # type: ignore[arg-type]
    with pytest.raises(InputError, match=sentence):
        read_trial(asked, tmp_path, PATCH.parents[4] / "kernel-patches", KNOWN)


def test_what_a_report_names_is_written_into_the_lesson(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = tmp_path / "linux"
    ids = commits(repository, [1, 2, 3])
    trees = tuple(Path(f"{repository}@{one[:12]}") for one in ids[:2])
    asked = Asked(run="sh -c true", trees=trees, commits=("main~1..main",), repository=repository)
    made = read_trial(
        replace(asked, given=try_line(asked)), tmp_path, repo_root() / "kernel-patches", KNOWN
    )
    folder = tmp_path / made.name
    write_trial(folder, made, Tracing(), Times())
    monkeypatch.setenv("DUET_LESSONS", str(folder))
    found = load(made.slug)
    assert found.lesson.made_by == try_line(asked)
    sources = [source_facts(arm) for arm in found.lesson.arms]
    assert [one and one.commit for one in sources] == [ids[0], ids[1], ids[0]]
    assert sources == [arm.source for arm in made.arms]
    (file,) = found.patch_files(made.arms[2].name)
    assert patch_commit(file.read_text()) == ids[2]
    assert f"commit `{ids[2]}`" in found.content()


def test_a_call_that_checks_the_same_kernels_is_offered_by_the_lesson(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = Asked(
        **{"run": "sh -c true", "patches": (Path("a b.patch"),), "base": "6.12", "times": 3},
        **{"shared": (Path("w"),), "name": "x", "clock": "count", "functions": ("f*",)},
    )
    call = check_line(asked)
    assert call == "./duet check 'a b.patch' --base 6.12 --with w --run 'sh -c true' --name x"
    assert check_line(replace(asked, kernels=(Path("bzImage"),))) == ""
    words = shlex.split(call)[1:]
    seen: list[Asked] = []

    def take(what: check_verb.Check) -> int:
        seen.append(what.asked)
        return 0

    monkeypatch.setattr(check_verb, "check_kernels", take)
    assert entry.main(words) == 0
    assert seen == [replace(asked, times=1, clock="wall", functions=())]
    made = replace(trial(tmp_path), check=call)
    lesson = write_trial(tmp_path / made.name, made, Tracing(), Times())
    assert f"`{call}`" in (lesson / "content.md").read_text()
    target = tmp_path / "mine" / "lessons" / "06-my-question"
    saved, _ = save_lesson(tmp_path / made.name, made, target)
    assert f"`{call}`" in (saved / "content.md").read_text()


def test_a_call_that_makes_a_trial_again_has_what_is_not_as_usual() -> None:
    asked = Asked(
        **{"run": "sh -c 'a b'", "patches": (Path("my x.patch"),), "trees": (Path("a"), Path("b"))},
        **{"shared": (Path("w"),), "functions": ("f*",), "memory_mb": 512, "better": "lower"},
        **{"commits": ("a..b",), "repository": Path("../l"), "given": "never said"},
    )
    assert try_line(asked) == (
        "./duet try 'my x.patch' --commits a..b --repo ../l --tree a --tree b --with w "
        "--run 'sh -c '\"'\"'a b'\"'\"'' --fn 'f*' --memory-mb 512 --better lower"
    )
    options = {opt for one in app.commands["try"].params for opt in one.opts}
    said = {one.name for one in fields(Asked)} - {"given", ARGUMENTS}
    assert {OPTIONS.get(one, f"--{one.replace('_', '-')}") for one in said} <= options


def test_what_was_said_of_a_thread_reaches_the_trial(tmp_path: Path) -> None:
    thread = tmp_path / "t.mbox.gz"
    text = PATCH.read_text().replace("[PATCH]", "[PATCH v2 2/2]")
    thread.write_bytes(gzip.compress(text.encode()))
    asked = Asked(run="sh -c true", patches=(thread,))
    made = read_trial(asked, tmp_path, repo_root() / "kernel-patches", KNOWN)
    assert made.said == ("t lacks 1/2 of v2; the series is tried without",)
    assert (made.name, made.arms[1].name) == ("t", "t")


def test_options_are_a_base_of_the_trials_own_with_the_same_tree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fragment = tmp_path / "more.config"
    fragment.write_text("CONFIG_KSM=y\n# CONFIG_SWAP is not set\n")
    made = trial(tmp_path, config=("TRANSPARENT_HUGEPAGE", str(fragment), "CONFIG_NR_CPUS=16"))
    (base,) = made.bases
    assert {arm.base for arm in made.arms} == {base.name} and base.like == "6.1"
    folder = tmp_path / made.name
    write_trial(folder, made, Tracing(), Times())
    monkeypatch.setenv("DUET_LESSONS", str(folder))
    settings = KernelSettings(tmp_path / "cache", repo_root() / "kernel-patches")
    found = settings.base_of(arm_spec(load(made.slug), made.arms[1].name))
    assert found.about.startswith("Linux 6.1") and "CONFIG_KSM=y" in found.about
    assert found.source == settings.base.source and found.both == settings.base.both
    assert settings.tree(found, None, "a").folder == settings.tree(settings.base, None, "a").folder
    assert settings.beside("ccache", found) == settings.beside("ccache", settings.base)
    options = read_fragments(found.fragments)
    wanted = {"KSM": "y", "SWAP": "n", "NR_CPUS": "16", "TRANSPARENT_HUGEPAGE": "y"}
    assert {name: options[f"CONFIG_{name}"] for name in wanted} == wanted
    assert found.lenient and found.fragments[-1].name == ASKED
    assert options["CONFIG_SMP"] == "y", "those of the base stand below"


@pytest.mark.parametrize("given", ["KSM=m", "A B", "./no-such.config", ""])
def test_what_is_no_option_is_refused(tmp_path: Path, given: str) -> None:
    with pytest.raises(InputError, match="--config wants kernel options"):
        trial(tmp_path, config=(given,))


def test_limit_and_vcpus_of_a_trial_are_knobs_of_its_lesson(tmp_path: Path) -> None:
    made = trial(tmp_path, timeout=400, vcpus=16)
    write_trial(tmp_path / "t", made, Tracing(), Times())
    folder = read_lesson(tmp_path / "t" / "lessons" / made.slug)
    assert folder.params["command_limit"].default == 400 and folder.params["guest_cpus"].max == 64
    assert folder.workloads["command"].run == f"{made.program} {{command_runs}} {{command_limit}}"
    assert "deadline_ms 520000\n" in plan_text(
        folder, made.arms[0].name, "command",
        {"command_runs": 1, "command_limit": 400, "guest_cpus": 2}, {}, traced=False,
    )  # fmt: skip


@pytest.mark.parametrize("number", ["0", "65", "-1"])
def test_more_vcpus_than_kernels_have_are_refused_in_a_sentence(
    number: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert entry.main(["try", str(PATCH), "--run", "sleep 1", "--vcpus", number]) == 2
    said = capsys.readouterr().err
    assert f"--vcpus must be 1 to 64 (NR_CPUS of the kernels), but got {number}" in said


def test_vcpus_beyond_this_machine_are_taken_with_a_note(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("duet.cli.trial.os.sched_getaffinity", lambda _: {0, 1})
    words = ["try", "/none.patch", "--run", "sleep 1"]
    assert entry.main([*words, "--vcpus", "16"]) == 2
    assert "16 vCPUs share 2 CPUs of this machine" in capsys.readouterr().err
    assert entry.main([*words, "--vcpus", "2"]) == 2
    assert "share" not in capsys.readouterr().err


def test_a_report_names_files_without_their_folders(tmp_path: Path) -> None:
    program = tmp_path / "my-test"
    program.touch()
    asked = Asked(
        str(program),
        patches=(Path("/home/a/mail.mbox"),),
        base="/srv/linux-7.3.tar.xz",
        trees=(Path("../linux@v6.6"), Path("..")),
    )
    line = (
        "./duet try /home/a/mail.mbox --base=/srv/linux-7.3.tar.xz --tree ../linux@v6.6 "
        f"--tree .. --run {program} --unit ops/s"
    )
    wanted = (
        "./duet try mail.mbox --base=linux-7.3.tar.xz --tree linux@v6.6 --tree .. "
        "--run ./my-test --unit ops/s"
    )
    assert without_folders(line, asked) == wanted
    asked, line = Asked("./my-test /etc/passwd"), "./duet try --run './my-test /etc/passwd'"
    assert without_folders(line, asked) == line
