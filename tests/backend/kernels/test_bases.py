# SPDX-License-Identifier: GPL-2.0-or-later
"""Bases: found by looking, each with its source, configuration, patches and tree."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from duet.base.errors import InputError
from duet.base.settings import repo_root
from duet.kernels import ArmSpec, KernelSettings, build, inputs, plan
from duet.kernels.bases import base_folders, find_base
from duet.kernels.source import BadFolder, BadTarball, NoSource, _folder_stamp
from tests.support import miniature

STOCK = ArmSpec("02-toy", "stock")
SRCU = ArmSpec("02-toy", "srcu", (Path("srcu.patch"),))
OURS = repo_root() / "kernel-patches"


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KernelSettings:
    monkeypatch.setenv("HOME", str(tmp_path))
    return miniature.make_settings(tmp_path)


def add_base(settings: KernelSettings, name: str, text: str, **files: str) -> Path:
    """A folder with a base.yaml; `files` are its fragments."""
    folder = settings.patches / "bases" / name
    folder.mkdir(parents=True)
    (folder / "base.yaml").write_text(text)
    for file, content in files.items():
        (folder / f"{file}.config").write_text(content)
    return folder


def sources(tmp_path: Path, sublevel: int) -> dict[str, str]:
    """A toy kernel of another 6.1.y."""
    makefile = miniature.MAKEFILE.replace("SUBLEVEL = 7", f"SUBLEVEL = {sublevel}")
    return {"Makefile": makefile, "mm/vmscan.c": miniature.VMSCAN, "fs/super.c": "super\n"}


def newer(settings: KernelSettings, tmp_path: Path) -> Path:
    """A second base, 6.12, with another tarball, another config and no patches."""
    makefile = miniature.MAKEFILE.replace("PATCHLEVEL = 1\n", "PATCHLEVEL = 12\n")
    files = {"Makefile": makefile, "mm/vmscan.c": "new\n", "fs/super.c": "super\n"}
    tarball = miniature.make_tarball(tmp_path / "linux-6.12.tar.xz", files)
    text = "about: new\nseries: '6.12'\nconfig: [../6.1/base.config, more.config]\n"
    text += f"source: {{tarball: {tarball}}}\n"
    return add_base(settings, "6.12", text, more="CONFIG_NEW=y\n")


def test_ours_are_6_1_by_default_and_three_others() -> None:
    assert list(base_folders(OURS)) == ["5.10", "6.1", "6.12", "7.3"]
    usual = find_base(None, OURS)
    assert (usual.name, usual.both, usual.package) == ("6.1", "both", "linux-source-6.1")
    for name in ("5.10", "6.12", "7.3"):
        new = find_base(name, OURS)
        wanted = (name, f"both-{name}", f"linux-source-{name}")
        assert (new.series, new.both, new.package) == wanted
        assert new.fragments[0].samefile(usual.fragments[0]), "its config is that of 6.1, and more"


def test_an_arm_on_another_base_has_its_source_config_patches_and_tree(
    settings: KernelSettings, tmp_path: Path
) -> None:
    folder = newer(settings, tmp_path)
    own = settings.patches / "02-toy" / "both-6.12"
    own.mkdir()
    text = miniature.patch("fs: events", miniature.replace("fs/super.c", "super\n", 1, "traced"))
    (own / "0001-events.patch").write_text(text)
    arm = replace(STOCK, base="6.12")
    assert [patch.path for patch in inputs(arm, settings).patches] == [
        "02-toy/both-6.12/0001-events.patch"
    ]
    stock, new = build([STOCK, arm], settings)
    assert (stock.manifest.kernel_version, new.manifest.kernel_version) == ("6.1.7", "6.12.7")
    assert b"traced\n" in new.bzimage.read_bytes()
    assert "CONFIG_NEW=y" in new.config.read_text() and "CONFIG_SMP=y" in new.config.read_text()
    assert "CONFIG_NEW" not in stock.config.read_text()
    trees = sorted(path.name.rpartition("-")[0] for path in (settings.cache / "tree").iterdir())
    assert trees == ["linux-6.12", "linux-toy"]
    assert (folder / "both").exists() is False


def test_a_variant_is_another_kernel_from_a_tree_of_its_own(settings: KernelSettings) -> None:
    folder = settings.base.folder
    (folder / "fast.config").write_text("CONFIG_HZ_1000=y\n")
    text = (folder / "base.yaml").read_text()
    (folder / "base.yaml").write_text(
        text + "variants: {fast: {about: more ticks, config: fast.config}}\n"
    )
    fast = replace(SRCU, config="fast")
    usual, other = build([SRCU, fast], settings)
    assert usual.key != other.key
    assert "CONFIG_HZ_1000=y" in other.config.read_text()
    assert "CONFIG_HZ_1000=y" not in usual.config.read_text()
    trees = sorted(path.name for path in (settings.cache / "tree").iterdir())
    assert len(trees) == 2 and trees[1] == f"{trees[0]}-fast"
    with pytest.raises(InputError, match=r"has no configuration 'fsat' \(did you mean 'fast'"):
        plan(replace(SRCU, config="fsat"), settings)


def test_progress_counts_the_kernels_of_all_bases(settings: KernelSettings, tmp_path: Path) -> None:
    newer(settings, tmp_path)
    seen: set[tuple[str, int, int]] = set()

    def tell(progress: object) -> None:
        seen.add((progress.arm, progress.arm_index, progress.arms_total))  # type: ignore[attr-defined]

    build([STOCK, SRCU, ArmSpec("02-toy", "new", base="6.12")], settings, on_progress=tell)
    assert seen == {("stock", 0, 3), ("srcu", 1, 3), ("new", 2, 3)}


def test_a_base_like_another_takes_its_patches_and_config(
    settings: KernelSettings, tmp_path: Path
) -> None:
    tarball = miniature.make_tarball(tmp_path / "linux-6.1.9.tar.xz", sources(tmp_path, 9))
    away = tmp_path / "mine"
    away.mkdir()
    (away / "base.yaml").write_text(
        f"about: mine\nseries: '6.1'\nlike: '6.1'\nsource: {{tarball: {tarball}}}\n"
    )
    mine = replace(settings, base_name=str(away))
    ours, theirs = inputs(SRCU, settings), inputs(SRCU, mine)
    assert theirs.patches == ours.patches and theirs.config_sha256 == ours.config_sha256
    assert theirs.key() != ours.key()
    assert build([SRCU], mine)[0].manifest.kernel_version == "6.1.9"
    assert replace(mine, base_name=str(away / "base.yaml")).base == mine.base


def test_a_folder_is_a_source_as_it_stands(settings: KernelSettings, tmp_path: Path) -> None:
    tree = tmp_path / "linux"
    for name, text in sources(tmp_path, 8).items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text)
    (tree / ".git").mkdir()
    (tree / ".git" / "index").write_text("not a source")
    given = replace(settings, source=tree)
    first = plan(STOCK, given)
    assert build([STOCK], given)[0].manifest.kernel_version == "6.1.8"
    (src,) = settings.cache.glob("tree/*/src")
    assert not (src / ".git").exists()
    (tree / "fs/super.c").write_text("edited by hand\n")
    _folder_stamp.cache_clear()  # a new process
    assert plan(STOCK, given) != first
    (tree / ".config").write_text("")
    with pytest.raises(BadFolder, match="but make was run there") as caught:
        plan(STOCK, given)
    assert "mrproper" in caught.value.remedy


def test_a_commit_is_a_source_known_by_its_tree(settings: KernelSettings, tmp_path: Path) -> None:
    tree = tmp_path / "linux"
    for name, text in sources(tmp_path, 8).items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text)

    def git(*words: str) -> None:
        who = ["-c", "user.name=toy", "-c", "user.email=toy@localhost"]
        subprocess.run(["git", "-C", tree, *who, *words], check=True, capture_output=True)

    git("init", "-q")
    git("add", ".")
    git("commit", "-q", "-m", "one")
    text = f"about: git\nseries: '6.1'\nlike: '6.1'\nsource: {{git: {tree}}}\n"
    add_base(settings, "mine", text)
    arm = replace(SRCU, base="mine")
    first = plan(arm, settings)
    (tree / "fs/super.c").write_text("not committed\n")
    assert plan(arm, settings) == first
    assert build([arm], settings)[0].manifest.kernel_version == "6.1.8"
    git("commit", "-q", "-a", "-m", "two")
    assert plan(arm, settings) != first
    path = settings.patches / "bases/mine/base.yaml"
    path.write_text(text.replace("}", ", ref: nowhere}"))
    with pytest.raises(BadFolder, match="git cannot find it"):
        plan(arm, settings)


def test_a_source_of_another_series_is_refused(settings: KernelSettings, tmp_path: Path) -> None:
    newer(settings, tmp_path)
    with pytest.raises(BadTarball, match=r"wanted Linux 6\.1,"):
        build([STOCK], replace(settings, source=tmp_path / "linux-6.12.tar.xz"))


def test_a_missing_source_names_the_package_of_its_base(settings: KernelSettings) -> None:
    text = "about: x\nseries: '6.12'\nconfig: [../6.1/base.config]\n"
    source = "source: {package: linux-source-6.12, tarball: /nowhere.tar.xz}\n"
    add_base(settings, "x", text + source)
    with pytest.raises(NoSource) as caught:
        plan(replace(STOCK, base="x"), settings)
    assert "./duet build --base x, which fetches it" in caught.value.remedy
    add_base(settings, "y", text + "source: {tarball: /nowhere.tar.xz}\n")
    with pytest.raises(NoSource) as caught:
        plan(replace(STOCK, base="y"), settings)
    assert "base.yaml of y" in caught.value.remedy


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("about: x\nseries: 6.12\nsource: {tree: /x}\n", r"base\.yaml:2: series: .* string"),
        (
            "about: x\nseries: '6.12'\nsource: {}\nconfig: [a]\n",
            "one of tarball, git, tree, image, but found 0",
        ),
        ("about: x\nseries: '6.12'\nsource: {tree: /x, git: /y}\nconfig: [a]\n", "but found 2"),
        ("about: x\nseries: '6.12'\nsource: {tree: /x}\n", "config: this key is missing"),
        ("about: x\nseries: '6.1'\nlike: x\nsource: {tree: /x}\n", "has no patches"),
        ("about: x\nsource: {tree: /x}\nseries: '6.1'\nsize: 1\n", "4: size: "),
        ("about: [\n", "this is not YAML"),
    ],
)
def test_a_broken_base_is_explained(settings: KernelSettings, text: str, said: str) -> None:
    add_base(settings, "x", text)
    with pytest.raises(InputError, match=said):
        find_base("x", settings.patches)


def test_an_unknown_base_names_those_there_are(settings: KernelSettings) -> None:
    with pytest.raises(InputError, match=r"no kernel base '6\.2'") as caught:
        plan(replace(STOCK, base="6.2"), settings)
    assert "Choose from: 6.1, or name a folder" in caught.value.remedy
    (settings.base.folder / "base.yaml").write_text(
        (settings.base.folder / "base.yaml").read_text().replace("default: true\n", "")
    )
    with pytest.raises(InputError, match="but found 0"):
        plan(STOCK, settings)


def test_the_environment_names_the_base_of_arms_that_name_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DUET_BASE", "6.12")
    assert KernelSettings.default().base.name == "6.12"
    assert KernelSettings.default(base="6.1").base.name == "6.1"
    assert KernelSettings.default().base_of(replace(STOCK, base="6.1")).name == "6.1"
