# SPDX-License-Identifier: GPL-2.0-or-later
"""Objects come back from ccache; without ccache the build is as it was."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from duet.kernels.ccache import MASQUERADE, ccache_environment


def test_without_ccache_nothing_changes(tmp_path: Path) -> None:
    assert ccache_environment(tmp_path / "store", "/bin", masquerade=tmp_path) == {}


def test_a_header_that_is_put_back_costs_no_compiler_run(tmp_path: Path) -> None:
    """As when an arm's patch goes on and off; the set-up installs ccache, so this runs for real."""
    assert (MASQUERADE / "gcc").exists(), "ccache is not installed; run ./setup.sh kernels"
    env = ccache_environment(tmp_path / "store", os.environ["PATH"])
    header, source = tmp_path / "a.h", tmp_path / "a.c"
    source.write_text('#include "a.h"\nint value(void) { return VALUE; }\n')

    def compiled(value: int) -> bytes:
        header.write_text(f"#define VALUE {value}\n")
        old = header.stat().st_mtime - 10
        os.utime(header, (old, old))  # ccache trusts no header of this very second
        subprocess.run(
            ["gcc", "-Wp,-MMD,a.d", "-c", "a.c", "-o", "a.o"],
            cwd=tmp_path,
            env={**os.environ, **env},
            check=True,
            timeout=60,
        )
        return (tmp_path / "a.o").read_bytes()

    one, other, again = compiled(1), compiled(2), compiled(1)
    assert one == again != other
    told = subprocess.run(
        ["ccache", "--print-stats"],
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    ).stdout
    counts = dict(line.split("\t") for line in told.splitlines())
    assert counts["direct_cache_hit"] == "1" and counts["cache_miss"] == "2"
