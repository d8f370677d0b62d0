# SPDX-License-Identifier: GPL-2.0-or-later
"""Source trees: dirty ones count as they stand, and nothing is written into them."""

from __future__ import annotations

import hashlib
import os
import subprocess
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest

from duet.base.settings import repo_root
from duet.kernels.recipe import patch_diff
from duet.trials.ask import Asked, read_trial
from duet.trials.mails import NoPatch
from duet.trials.trees import BadSource, TreeStore, nearest_fragments, tarball_version
from duet.trials.trees import commits as commits_of
from tests.backend.trials.commits import commits, git
from tests.backend.trials.made import KNOWN, PATCH

MAKEFILE = "# SPDX\nVERSION = 6\nPATCHLEVEL = {}\nSUBLEVEL = 7\n"


def source(folder: Path, patchlevel: int = 6) -> Path:
    (folder / "mm").mkdir(parents=True)
    (folder / "Makefile").write_text(MAKEFILE.format(patchlevel))
    (folder / ".gitignore").write_text("*.o\n.config\n")
    (folder / "mm" / "a.c").write_text("int f(void)\n{\n\treturn 1;\n}\n")
    return folder


def repository(folder: Path) -> Path:
    source(folder)
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "first"]):
        identity = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
        subprocess.run(["git", "-C", folder, *identity, *words], check=True)
    return folder


def trial_of(tmp_path: Path, *trees: Path, **more: object):  # type: ignore[no-untyped-def]
    asked = Asked(run="sh -c true", trees=trees, **more)  # type: ignore[arg-type]
    return read_trial(asked, tmp_path / "trials", repo_root() / "kernel-patches", KNOWN)


def test_two_trees_of_one_release_are_one_base_and_a_patch(tmp_path: Path) -> None:
    first = repository(tmp_path / "clean")
    second = source(tmp_path / "changed")
    (second / "mm" / "a.c").write_text("int f(void)\n{\n\treturn 2;\n}\n")
    (second / "mm" / "a.o").write_bytes(b"\0\1")
    (first / ".config").write_text("CONFIG_OWN=y\n")
    made = trial_of(tmp_path, first, second)
    assert [arm.name for arm in made.arms] == ["clean", "changed"]
    (base,) = made.bases
    assert (base.series, base.config[0]) == ("6.6", first / ".config")
    (patch,) = made.arms[1].patches
    assert "+\treturn 2;" in patch.diff and "a.o" not in patch.diff
    assert made.arms[0].patches == ()
    status = subprocess.run(
        ["git", "-C", first, "status", "--porcelain"], capture_output=True, check=True
    )
    assert status.stdout == b""
    packed = subprocess.run(
        ["git", "-C", base.source["git"], "archive", base.source["ref"]],
        capture_output=True,
        check=True,
    )
    assert b"return 1;" in packed.stdout and b"CONFIG_OWN" not in packed.stdout


def test_a_change_after_the_first_time_is_a_patch_on_the_same_base(tmp_path: Path) -> None:
    first, second = repository(tmp_path / "clean"), source(tmp_path / "changed")
    (second / "mm" / "b.c").write_text("int g;\n")
    before = trial_of(tmp_path, first, second)
    (first / "mm" / "a.c").write_text("int f(void)\n{\n\treturn 3;\n}\n")  # dirty
    after = trial_of(tmp_path, first, second)
    assert after.bases[0].source == before.bases[0].source
    (own,) = after.arms[0].patches
    assert "+\treturn 3;" in own.diff and after.arms[1].patches[0] == own
    assert "dirty" in after.arms[0].about


def test_trees_of_two_releases_are_two_bases(tmp_path: Path) -> None:
    made = trial_of(tmp_path, source(tmp_path / "old"), source(tmp_path / "new", 12))
    assert [base.series for base in made.bases] == ["6.6", "6.12"]
    assert [arm.base for arm in made.arms] == [base.name for base in made.bases]


def test_a_source_package_that_ignores_its_own_files_is_read_whole(tmp_path: Path) -> None:
    folder = source(tmp_path / "linux")
    (folder / ".gitignore").write_text("/*\n!/debian\n")
    store = TreeStore(tmp_path / "store.git")
    read = store.add(folder)
    (folder / "mm/a.c").write_text("two\n")
    (folder / "mm/new.c").write_text("three\n")
    diff = store.diff(read.tree, store.add(folder).tree)
    assert "+two" in diff and "+three" in diff and "-int f(void)" in diff


def test_equal_trees_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadSource, match="wanted two sources"):
        trial_of(tmp_path, source(tmp_path / "a"), source(tmp_path / "b"))


def test_the_tarball_of_a_base_is_that_base(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DUET_CACHE", str(tmp_path / "cache"))
    patches = tmp_path / "kernel-patches"
    folder = patches / "bases" / "6.1"
    folder.mkdir(parents=True)
    (folder / "base.config").write_text("CONFIG_SMP=y\n")
    own = tmp_path / "linux-source-6.1.tar"
    (folder / "base.yaml").write_text(
        f'about: Debian\nseries: "6.1"\ndefault: true\nsource: {{tarball: {own}}}\n'
        "config: [base.config]\n"
    )
    with tarfile.open(own, "w") as archive:
        archive.add(source(tmp_path / "linux-6.1", 1), "linux-6.1")
    copy, other = tmp_path / "copy.tar", tmp_path / "other.tar"
    copy.write_bytes(own.read_bytes())
    other.write_bytes(own.read_bytes() + bytes(10240))

    def tried(base: Path) -> tuple[list[str], str | None]:
        asked = Asked(run="sh -c true", base=str(base), patches=(PATCH,))
        made = read_trial(asked, tmp_path / "trials", patches, KNOWN)
        return [one.name for one in made.bases], made.arms[1].base

    assert tried(copy) == ([], "6.1"), "it shares the base's tree and kernels"
    bases, base = tried(other)
    assert bases == [base] and base != "6.1"
    own.unlink()
    assert tried(copy) == ([], "6.1"), "its digest was recorded"


def test_a_tarball_says_its_version(tmp_path: Path) -> None:
    path = tmp_path / "linux-6.6.7.tar.gz"
    with tarfile.open(path, "w:gz") as tar:
        tar.add(source(tmp_path / "linux-6.6.7"), "linux-6.6.7")
    assert tarball_version(path) == "6.6.7"
    (tmp_path / "no.tar").write_bytes(b"nothing")
    with pytest.raises(BadSource, match="no kernel Makefile"):
        tarball_version(tmp_path / "no.tar")


def test_the_nearest_base_gives_the_configuration() -> None:
    patches = repo_root() / "kernel-patches"
    older = nearest_fragments("6.6", patches)
    newer = nearest_fragments("6.15", patches)
    assert [path.parent.name for path in older] == ["6.1"]
    assert [path.parent.name for path in newer] == ["6.1", "6.12"]
    assert nearest_fragments("5.18", patches) == older, "its DWARF options have today's names"
    for series in ("4.19", "5.10", "5.17"):
        found = nearest_fragments(series, patches)
        assert [path.parent.name for path in found] == ["6.1", "5.10"]
    assert [path.parent.name for path in nearest_fragments("7.3", patches)] == ["6.1", "7.3"]


def test_the_store_reads_a_tree_again_only_where_it_changed(tmp_path: Path) -> None:
    tree = repository(tmp_path / "clean")
    store = TreeStore(tmp_path / "store.git")
    assert store.add(tree).tree == store.add(tree).tree
    (tree / "mm" / "a.c").unlink()
    assert (
        store.add(tree).tree != store.base_of(store.add(tree))
        or store.diff(store.base_of(store.add(tree)), store.add(tree).tree) == ""
    )


def test_commits_of_a_repository_are_trees_without_a_checkout(tmp_path: Path) -> None:
    repository = tmp_path / "linux"
    first, second, third = commits(repository, [1, 2, 3])
    (repository / "value").write_text("my own change\n")
    (repository / "untracked.c").write_text("int x;\n")
    at = [Path(f"{repository}@{name}") for name in (first[:12], second[:12])]
    made = trial_of(tmp_path, *at, Path(f"{repository}@main"))
    assert [arm.name for arm in made.arms] == [first[:12], second[:12], "main"]
    assert made.arms[0].patches == ()
    patches = [arm.patches[-1].diff for arm in made.arms[1:]]
    assert "-1\n+2" in patches[0] and "-1\n+3" in patches[1]
    assert not any("own change" in diff or "untracked" in diff for diff in patches)
    (base,) = made.bases
    again = trial_of(tmp_path, Path(f"{repository}@{second}"), Path(f"{repository}@{third}"))
    assert again.bases[0].source == base.source, "one warm tree serves all commits"
    assert "-1\n+2" in again.arms[0].patches[0].diff
    assert git(repository, "status", "--porcelain") == "M value\n?? untracked.c"


def test_two_releases_of_one_repository_are_two_bases(tmp_path: Path) -> None:
    repository = tmp_path / "linux"
    (old,) = commits(repository, [1])
    (repository / "Makefile").write_text(MAKEFILE.format(12))
    git(repository, "commit", "-qam", "the next release")
    made = trial_of(tmp_path, Path(f"{repository}@{old}"), Path(f"{repository}@main"))
    assert [base.series for base in made.bases] == ["6.6", "6.12"]
    assert len({base.name for base in made.bases}) == 2
    assert len({base.source["git"] for base in made.bases}) == 2


def test_a_commit_that_is_not_there_is_refused(tmp_path: Path) -> None:
    repository = tmp_path / "linux"
    commits(repository, [1])
    for name, why in (("v9", "wanted the commit 'v9'"), ("--all", "wanted the commit '--all'")):
        with pytest.raises(BadSource, match=why):
            trial_of(tmp_path, repository, Path(f"{repository}@{name}"))
    git(repository, "rm", "-q", "Makefile")
    git(repository, "commit", "-qm", "gone")
    with pytest.raises(BadSource, match="has no kernel Makefile"):
        trial_of(tmp_path, Path(f"{repository}@main"), Path(f"{repository}@main~1"))


def test_an_arm_of_a_tree_names_its_commit_and_whether_it_was_dirty(tmp_path: Path) -> None:
    first, second = repository(tmp_path / "clean"), repository(tmp_path / "changed")
    (second / "mm" / "a.c").write_text("int f(void)\n{\n\treturn 2;\n}\n")
    made = trial_of(tmp_path, first, second, patches=(PATCH,), shared=(PATCH,))
    stock, mine, patched = (arm.source for arm in made.arms)
    head = git(first, "rev-parse", "HEAD")
    assert stock is not None and mine is not None
    assert (stock.commit, stock.describe, stock.version) == (head, head[:12], "6.6.7")
    assert (stock.dirty, stock.changes, stock.patches) == (False, "", 0)
    assert stock.tree == git(first, "rev-parse", "HEAD^{tree}")
    assert patched == stock, "the patch is no part of the tree"
    assert mine.commit == git(second, "rev-parse", "HEAD") and mine.dirty
    assert (
        mine.changes == hashlib.sha256(patch_diff(git(second, "diff") + "\n").encode()).hexdigest()
    )
    assert mine.patches == 1 and len(made.arms[1].patches) == 2
    assert "-dirty in changed" in made.arms[1].about


def test_a_file_that_git_does_not_know_makes_a_tree_dirty(tmp_path: Path) -> None:
    tree = repository(tmp_path / "clean")
    store = TreeStore(tmp_path / "store.git")
    assert (
        not store.add(tree).dirty and store.add(tree).commit == git(tree, "rev-parse", "HEAD")[:12]
    )
    (tree / "mm" / "new.c").write_text("int g;\n")
    assert store.add(tree).dirty and store.add(tree).changes


def test_a_commit_by_any_name_is_named_by_its_hash(tmp_path: Path) -> None:
    repository = tmp_path / "linux"
    first, second = commits(repository, [1, 2])
    git(repository, "tag", "-am", "v", "v6.6.7", first)
    (repository / "value").write_text("3\n")
    made = trial_of(tmp_path, Path(f"{repository}@v6.6.7"), Path(f"{repository}@main"))
    sources = [arm.source for arm in made.arms]
    assert [one and (one.commit, one.describe, one.dirty) for one in sources] == [
        (first, "v6.6.7", False),
        (second, f"v6.6.7-1-g{second[:12]}", False),
    ]


SETTINGS_OF_A_USER = """
[color]
	ui = always
[core]
	quotePath = false
	attributesFile = {0}/attributes
[diff]
	noprefix = true
	mnemonicPrefix = true
	external = false
	algorithm = patience
	orderFile = {0}/order
	context = 1
	suppressBlankEmpty = true
[diff "upper"]
	textconv = tr a-z A-Z <
[format]
	attach = cut
	coverLetter = true
	subjectPrefix = MINE
	signOff = true
	numbered = false
	pretty = oneline
[log]
	showSignature = true
"""


def test_what_a_user_has_set_changes_no_diff(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = repository(tmp_path / "linux")
    second = source(tmp_path / "changed")
    (second / "mm" / "a.c").write_text("int f(void)\n{\n\treturn 2;\n}\n")
    (second / "mm" / "b.c").write_text("\nint g;\n")
    base = git(first, "rev-parse", "HEAD")
    (first / "mm" / "a.c").rename(first / "mm" / "moved.c")
    git(first, "add", "-A")
    git(first, "commit", "-qm", "mm: move it")
    (first / "mm" / "moved.c").write_text("int f(void)\n{\n\treturn 2;\n}\n")
    git(first, "commit", "-qam", "mm: change it")

    def read() -> tuple[str, ...]:
        store = TreeStore(tmp_path / f"store-{os.urandom(4).hex()}.git")
        diff = store.diff(store.add(first).tree, store.add(second).tree)
        return (diff, *(patch.text() for patch in commits_of(first, f"{base}..HEAD", print)))

    plain = read()
    assert len(plain) == 3 and "\nrename to mm/moved.c\n" in plain[1]
    assert "\n--- a/mm/moved.c\n" in plain[2] and "Subject: [PATCH] mm: change it" in plain[2]
    (tmp_path / "order").write_text("*b.c\n")
    (tmp_path / "attributes").write_text("*.c diff=upper\n")
    (tmp_path / "settings").write_text(SETTINGS_OF_A_USER.format(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "settings"))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", "/bin/false")
    monkeypatch.setenv("GIT_DIFF_OPTS", "-u1")
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):  # of a hook, or git rebase --exec
        monkeypatch.setenv(name, str(tmp_path / "elsewhere"))
    assert read() == plain


def test_a_range_with_a_merge_is_one_patch(tmp_path: Path) -> None:
    top = repository(tmp_path / "linux")
    first = git(top, "rev-parse", "HEAD")
    git(top, "checkout", "-qb", "side")
    (top / "mm" / "b.c").write_text("int b;\n")
    git(top, "add", "-A")
    git(top, "commit", "-qm", "mm: b")
    git(top, "checkout", "-q", "-")
    (top / "mm" / "a.c").write_text("int f(void)\n{\n\treturn 2;\n}\n")
    git(top, "commit", "-qam", "mm: a")
    git(top, "merge", "-q", "--no-commit", "side")
    (top / "mm" / "b.c").write_text("int b = 2;\n")  # which neither of the commits has
    git(top, "add", "-A")
    git(top, "commit", "-qm", "Merge side")
    said: list[str] = []
    (patch,) = commits_of(top, f"{first}..HEAD", said.append)
    assert "+int b = 2;" in patch.diff and "+\treturn 2;" in patch.diff
    words = f"{first}..HEAD contains a merge, so its 3 commits are tried as one patch"
    assert said == [words] and patch.subject.endswith("..HEAD: 3 commits")
    assert commits_of(top, first, print) == (replace(patch, subject=f"{first}: 3 commits"),)
    merge = git(top, "rev-parse", "HEAD")
    git(top, "checkout", "-q", "side")
    (top / "mm" / "c.c").write_text("int c;\n")
    git(top, "add", "-A")
    git(top, "commit", "-qm", "mm: c")
    with pytest.raises(NoPatch, match="they contain a merge"):
        commits_of(top, f"side..{merge}", print)
    assert len(commits_of(top, f"{first}..side", print)) == 2
    for span, why in (("v9..HEAD", "git cannot find them"), ("HEAD..HEAD", "the range is empty")):
        with pytest.raises(NoPatch, match=why):
            commits_of(top, span, print)


def test_a_repository_of_another_user_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    top, plain = repository(tmp_path / "linux"), source(tmp_path / "plain")
    inner = source(top / "inner")
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    for name, call in (
        ("a tree", lambda: TreeStore(tmp_path / "store.git").add(top)),
        ("its commit", lambda: TreeStore(tmp_path / "store.git").add(Path(f"{top}@HEAD"))),
        ("a range", lambda: commits_of(top, "HEAD~..HEAD", print)),
    ):
        with pytest.raises(BadSource, match="another user owns it") as caught:
            call()
        assert caught.value.remedy.endswith(f"--add safe.directory {top}"), name
    for folder in (plain, inner):
        assert TreeStore(tmp_path / "store.git").add(folder).head.commit == ""


def test_files_that_are_no_utf_8_are_not_changed_without_a_word(tmp_path: Path) -> None:
    first, second = source(tmp_path / "a"), source(tmp_path / "b")
    (second / "mm" / "a.c").write_bytes(b"/* Gr\xf6\xdfe */\n")
    with pytest.raises(BadSource, match=r"differ in mm/a\.c, which is not UTF-8"):
        trial_of(tmp_path, first, second)
    store = TreeStore(tmp_path / "store.git")
    store.base_of(store.add(first))
    tree = store.add(second)
    assert store.base_of(tree) == tree.tree


def test_a_source_that_lies_within_another_repository_is_none_of_its_commits(
    tmp_path: Path,
) -> None:
    top = repository(tmp_path / "top")
    inner = source(top / "linux")
    found = TreeStore(tmp_path / "store.git").add(inner)
    assert found.head.commit == "" and not found.dirty and "no commit" in found.about
    assert found.facts(0).tree == found.tree


def test_a_configuration_that_is_not_used_is_named(tmp_path: Path) -> None:
    first, second = repository(tmp_path / "clean"), source(tmp_path / "changed")
    (second / "mm" / "a.c").write_text("int f(void)\n{\n\treturn 2;\n}\n")
    config = 'CONFIG_A=y\n# CONFIG_B is not set\nCONFIG_DRIVER=m\nCONFIG_CC_VERSION_TEXT="1"\n'
    assert trial_of(tmp_path, first, second).said == ()
    (second / ".config").write_text(config)
    assert trial_of(tmp_path, first, second).said == (
        "the .config of changed is ignored: both kernels use the configuration of clean, "
        "which has no .config",
    )
    # What guests need, what is a module, and what the compiler is make no difference there.
    same = config.replace("# CONFIG_B is not set\n", "").replace("DRIVER=m", "DRIVER=n")
    (first / ".config").write_text(same.replace('"1"', '"2"') + "CONFIG_SMP=n\n")
    assert trial_of(tmp_path, first, second).said == ()
    (first / ".config").write_text(config.replace("A=y", "A=n"))
    made = trial_of(tmp_path, first, second)
    assert made.said == (
        "the .config files of clean and changed differ in 1 option (CONFIG_A); both kernels use "
        "that of clean",
    )
    assert made.bases[0].config[0] == first / ".config"
    (first / ".config").write_text("".join(f"CONFIG_X{n}=y\n" for n in range(7)))
    (said,) = trial_of(tmp_path, first, second).said
    assert "differ in 8 options (CONFIG_A, CONFIG_X0, CONFIG_X1 and others)" in said


def test_commits_of_one_folder_have_one_configuration(tmp_path: Path) -> None:
    repository = tmp_path / "linux"
    first, second = commits(repository, [1, 2])
    (repository / ".config").write_text("CONFIG_A=y\n")
    at = [Path(f"{repository}@{name}") for name in (first, second)]
    assert trial_of(tmp_path, *at).said == ()
    copied = trial_of(tmp_path, source(tmp_path / "old", 12), at[0])
    assert copied.said == () and len(copied.bases) == 2, "each release has its own"


def test_a_change_in_the_second_of_a_commit_is_seen(tmp_path: Path) -> None:
    tree = repository(tmp_path / "clean")
    changed, index = tree / "mm" / "a.c", tree / ".git" / "index"
    changed.write_text("int f(void)\n{\n\treturn 1;\n}\n")
    past = 1_700_000_000
    os.utime(changed, (past, past))
    git(tree, "update-index", "--refresh")
    changed.write_text("int f(void)\n{\n\treturn 2;\n}\n")
    for path in (changed, index):
        os.utime(path, (past, past))
    git(tree, "config", "core.trustctime", "false")
    store = TreeStore(tmp_path / "store.git")
    git(store.folder, "config", "core.trustctime", "false")
    assert store.add(tree).dirty
