# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet doctor` on a machine that has no source yet."""

from __future__ import annotations

from pathlib import Path

import pytest

from duet.cli.doctor.machine import _kernel_source


@pytest.mark.parametrize(
    ("package", "status", "remedy"),
    [
        ("package: linux-source-6.1, ", "warning", "which fetches it"),
        ("", "missing", "Correct `source`"),
    ],
)
def test_a_source_that_a_build_fetches_is_not_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str, status: str, remedy: str
) -> None:
    (tmp_path / "base.config").write_text("CONFIG_SMP=y\n")
    (tmp_path / "base.yaml").write_text(
        "about: toy\nseries: '6.1'\nconfig: [base.config]\n"
        f"source: {{{package}tarball: /nowhere/linux-source-6.1.tar.xz}}\n"
    )
    monkeypatch.setenv("DUET_BASE", str(tmp_path))
    monkeypatch.setenv("DUET_CACHE", str(tmp_path / "cache"))
    (check,) = _kernel_source()
    assert check.status == status and remedy in check.remedy
