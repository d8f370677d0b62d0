# SPDX-License-Identifier: GPL-2.0-or-later
"""Objects come back from ccache; without ccache the build is as it was."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from duet.kernels.tree import ccache_environment


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    """The set-up installs ccache, so the tests here run for real."""
    env = ccache_environment(tmp_path / "store", os.environ["PATH"])
    assert env, "ccache is not installed; run ./setup.sh kernels"
    return {**os.environ, **env}


def compiled(name: str, folder: Path, env: dict[str, str]) -> bytes:
    """The object, made as kbuild asks for it: with a dependency file."""
    subprocess.run(
        ["gcc", "-Wp,-MMD,out.d", "-c", "-o", "out.o", name],
        cwd=folder,
        env=env,
        check=True,
        timeout=60,
    )
    return (folder / "out.o").read_bytes()


def test_without_ccache_nothing_changes(tmp_path: Path) -> None:
    assert ccache_environment(tmp_path / "store", str(tmp_path)) == {}
    assert not list(tmp_path.iterdir())


def test_what_an_assembler_file_brings_in_is_never_an_older_one(
    tmp_path: Path, env: dict[str, str]
) -> None:
    """As piggy.S does: its own text is the same, and what it includes is another kernel."""
    (tmp_path / "piggy.S").write_text('.incbin "packed"\n')
    for content in (b"first", b"other"):
        (tmp_path / "packed").write_bytes(content)
        assert content in compiled("piggy.S", tmp_path, env)


def test_a_header_that_is_put_back_costs_no_compiler_run(
    tmp_path: Path, env: dict[str, str]
) -> None:
    """As when an arm's patch goes on and off."""
    header, source = tmp_path / "a.h", tmp_path / "a.c"
    source.write_text('#include "a.h"\nint value(void) { return VALUE; }\n')

    def valued(value: int) -> bytes:
        header.write_text(f"#define VALUE {value}\n")
        old = header.stat().st_mtime - 10
        os.utime(header, (old, old))  # ccache trusts no header of this very second
        return compiled("a.c", tmp_path, env)

    one, other, again = valued(1), valued(2), valued(1)
    assert one == again != other
    reported = subprocess.run(
        ["ccache", "--print-stats"],
        env=env,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    ).stdout
    counts = dict(line.split("\t") for line in reported.splitlines())
    assert counts["direct_cache_hit"] == "1" and counts["cache_miss"] == "2"
