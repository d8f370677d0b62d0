# SPDX-License-Identifier: GPL-2.0-or-later
"""The sealed root: same inputs, same image; found workloads; sentences for what is missing."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from duet.base.errors import InfraError
from duet.base.settings import repo_root
from duet.guests import root as root_module
from duet.guests.root import GuestRoot, ensure_root, run_recipe

Run = Callable[..., object]

IMAGE_BYTES = 40 << 20
"""An image that grows beyond this is seen in the time of every boot, and in the guest's memory."""


def names(image: Path) -> list[str]:
    with image.open("rb") as archive:
        return subprocess.run(
            ["cpio", "-t", "--quiet"], stdin=archive, capture_output=True, text=True, check=True
        ).stdout.splitlines()


def make(run_async: Run, **where: Path) -> GuestRoot:
    made = run_async(ensure_root(**where))  # type: ignore[arg-type]
    assert isinstance(made, GuestRoot)
    return made


@dataclass(frozen=True)
class Made:
    """A root that is made once: it takes seconds of CPU time."""

    root: GuestRoot
    cache: Path
    cpu_s: float


def cpu_s() -> float:
    """CPU time of this process and of the compilers that it waited for."""
    return sum(os.times()[:4])


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    cache = tmp_path_factory.mktemp("cache")
    began = cpu_s()
    root = asyncio.run(asyncio.wait_for(ensure_root(cache=cache), 240))
    return Made(root, cache, cpu_s() - began)


@pytest.fixture
def checkout(root: Path, tmp_path: Path) -> Path:
    """A copy of what the recipe reads, to be changed."""
    copy = tmp_path / "checkout"
    for part in ("vm-images/agent", "vm-images/root", "lessons/02-grace-periods/workload"):
        shutil.copytree(root / part, copy / part)
    return copy


def test_a_second_call_makes_nothing_and_is_quick(run_async: Run, made: Made) -> None:
    first = made.root
    stamp = first.image.stat().st_mtime_ns
    began = cpu_s()
    assert run_async(run_recipe(repo_root(), made.cache)) == first
    assert cpu_s() - began < made.cpu_s / 3
    assert first.image.stat().st_mtime_ns == stamp
    assert first.image == made.cache / "roots" / f"{first.key}.cpio"
    inside = names(first.image)
    assert {"init", "bin/busybox", "bin/duet-agent", "bin/storm", "usr/bin/stress-ng"} < {*inside}
    assert {"bin/duet-scratch", "usr/bin/fio", "usr/sbin/mkfs.xfs", "usr/sbin/mkfs.ext4"} < {
        *inside
    }
    assert first.image.stat().st_size < IMAGE_BYTES
    assert not [name for name in inside if "icudata" in name or "ceph-common" in name]
    assert {path.name for path in first.programs.iterdir()} >= {
        "duet-agent",
        "storm",
        "duet-scratch",
    }
    assert not [path for path in (made.cache / "roots").iterdir() if path != first.image]


def test_of_many_callers_one_looks_until_an_input_changes(
    run_async: Run, checkout: Path, made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[Path] = []

    async def look(repo: Path, cache: Path) -> GuestRoot:
        looks.append(repo)
        await asyncio.sleep(0.05)
        return made.root

    async def callers(n: int = 10) -> int:
        looks.clear()
        where = (checkout, made.cache)
        assert await asyncio.gather(*(ensure_root(*where) for _ in range(n))) == [made.root] * n
        return len(looks)

    monkeypatch.setattr(root_module, "run_recipe", look)
    assert run_async(callers()) == 1
    assert run_async(callers()) == 0, "also in another event loop"
    workload = checkout / "lessons/02-grace-periods/workload"
    (workload / "storm.c").write_text("int main(void)\n{\n\treturn 0;\n}\n")
    assert run_async(callers()) == 1
    (workload / "files" / "etc").mkdir(parents=True)
    (workload / "files" / "etc" / "rain").write_text("rain")
    assert run_async(callers()) == 1
    monkeypatch.setenv("CC", "another-compiler")
    assert run_async(callers()) == 1
    monkeypatch.setattr(root_module, "TRUST_S", 0.0)
    assert run_async(callers(3)) == 3, "what has no stamp is looked at in the end"


def test_equal_inputs_give_equal_bytes(run_async: Run, made: Made, tmp_path: Path) -> None:
    one = made.root
    two = make(run_async, cache=tmp_path / "two")
    assert one.key == two.key
    assert one.image.read_bytes() == two.image.read_bytes()


def test_a_new_lessons_workload_is_found(run_async: Run, checkout: Path, tmp_path: Path) -> None:
    before = make(run_async, repo=checkout, cache=tmp_path)
    folder = checkout / "lessons" / "06-new" / "workload"
    folder.mkdir(parents=True)
    (folder / "drizzle.c").write_text("int main(void)\n{\n\treturn 0;\n}\n")
    after = make(run_async, repo=checkout, cache=tmp_path)
    assert after.key != before.key
    assert "bin/drizzle" in names(after.image)


def test_workloads_of_another_folder_are_found_and_leave_the_shipped_root_alone(
    run_async: Run, checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = make(run_async, repo=checkout, cache=tmp_path)
    folder = tmp_path / "mine" / "lessons" / "06-new" / "workload"
    folder.mkdir(parents=True)
    (folder / "drizzle.c").write_text("int main(void)\n{\n\treturn 0;\n}\n")
    (folder / "rain.sh").write_text("#!/bin/sh\necho rain\n")
    monkeypatch.setenv("DUET_LESSONS", str(tmp_path / "mine"))
    after = make(run_async, repo=checkout, cache=tmp_path)
    assert {"bin/drizzle", "bin/rain"} <= {*names(after.image)}
    monkeypatch.delenv("DUET_LESSONS")
    assert make(run_async, repo=checkout, cache=tmp_path) == before
    (checkout / "lessons/02-grace-periods/workload/rain.sh").write_text("#!/bin/sh\n")
    monkeypatch.setenv("DUET_LESSONS", str(tmp_path / "mine"))
    with pytest.raises(InfraError, match=r"called rain \(rain\.sh of 02-grace-periods and 06-new"):
        make(run_async, repo=checkout, cache=tmp_path)


def test_two_workloads_of_one_name_are_refused(
    run_async: Run, checkout: Path, tmp_path: Path
) -> None:
    folder = checkout / "lessons" / "06-new" / "workload"
    folder.mkdir(parents=True)
    (folder / "storm.c").write_text("int main(void)\n{\n\treturn 0;\n}\n")
    with pytest.raises(InfraError, match=r"Two workloads are called storm"):
        make(run_async, repo=checkout, cache=tmp_path)


def test_a_workload_that_does_not_compile_shows_the_compilers_words(
    run_async: Run, checkout: Path, tmp_path: Path
) -> None:
    (checkout / "lessons/02-grace-periods/workload/storm.c").write_text("int main(void) { oops }")
    with pytest.raises(InfraError) as caught:
        make(run_async, repo=checkout, cache=tmp_path)
    assert "oops" in caught.value.detail
    assert not list((tmp_path / "roots").iterdir())


def test_programs_with_hollow_libraries_start(made: Made, tmp_path: Path) -> None:
    """The loader resolves every symbol at once, so a forgotten one would end the program."""
    with made.root.image.open("rb") as archive:
        subprocess.run(["cpio", "-id", "--quiet"], stdin=archive, cwd=tmp_path, check=True)
    loader = tmp_path / "lib64/ld-linux-x86-64.so.2"
    where = (
        f"{tmp_path}/lib/x86_64-linux-gnu:{tmp_path}/usr/lib:{tmp_path}/usr/lib/x86_64-linux-gnu"
    )
    hollow = {path.name.partition(".so")[0] for path in (tmp_path / "usr/lib").glob("*.so*")}
    assert hollow >= {"libIPSec_MB", "libkmod", "libgfapi", "librados"}, "of whatever version"
    for program, flag in {"fio": "--version", "stress-ng": "--version"}.items():
        words = [loader, "--inhibit-cache", "--library-path", where]
        done = subprocess.run(
            [*words, tmp_path / "usr/bin" / program, flag],
            capture_output=True,
            text=True,
            env={"LD_BIND_NOW": "1"},
        )
        assert done.returncode == 0, done.stderr


def test_a_missing_tool_is_named(
    run_async: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("env", "python3", "gcc", "make", "ldd", "setpriv", "sh", "nice"):
        (tools / name).symlink_to(shutil.which(name) or name)
    monkeypatch.setenv("PATH", str(tools))
    with pytest.raises(InfraError, match="apt-get install stress-ng"):
        make(run_async, cache=tmp_path)


def test_a_cache_without_room_is_said_in_one_sentence(
    run_async: Run, checkout: Path, tmp_path: Path
) -> None:
    """A linker's word stands in for the full disk, which only root can make."""
    said = "final link failed: No space left on device"
    (checkout / "vm-images/agent/Makefile").write_text(
        f"$(shell echo 'ld: {said}' >&2)\nall:\n\t@exit 1\n%:\n\t@exit 1\n"
    )
    with pytest.raises(InfraError, match=r"has no space left\.$") as caught:
        make(run_async, repo=checkout, cache=tmp_path / "cache")
    assert "DUET_CACHE" in caught.value.remedy and said in caught.value.detail
