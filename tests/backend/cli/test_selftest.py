# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet selftest` without a guest: what it refuses, what it writes down, what reports say of it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from duet.base.errors import InfraError
from duet.cli import kvm
from duet.cli.entry import main
from duet.measure import provenance as hardware
from duet.measure.reports.text import machine
from duet.runs.selftest import run_test
from tests.backend.measure.reports_made import wall

HOST = {"cpu": "A CPU", "kernel": "6.1", "qemu": "8.2"}


def test_without_kvm_it_ends_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(kvm, "kvm_works", lambda: (False, "There is no /dev/kvm."))
    assert main(["selftest", "--kvm"]) == 3
    said = capsys.readouterr().err
    assert "guests cannot be tested under KVM here: There is no /dev/kvm." in said
    assert "./duet doctor" in said


def test_a_step_that_fails_is_a_sentence_and_no_end() -> None:
    async def fails() -> str:
        raise InfraError("the clock stands.", remedy="Wind it up.")

    step = asyncio.run(run_test("clock", fails))
    assert (step.ok, step.found, step.remedy) == (False, "the clock stands.", "Wind it up.")


def test_reports_name_a_result_that_holds_for_their_host(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DUET_CACHE", str(tmp_path))
    none = "measured on hardware, without a self-test of this host (duet selftest --kvm)"
    assert hardware.tested_words(HOST) == none
    path = hardware.remember({"ok": True, "qemu": "8.2", "host": HOST, "steps": []})
    assert path == hardware.result_file() and '"at"' in path.read_text()
    assert hardware.tested_words(HOST).startswith(
        "measured on hardware; the self-test of this host passed"
    )
    assert hardware.tested_words({**HOST, "kernel": "6.2"}) == none
    assert hardware.tested_words({**HOST, "qemu": "9.0"}) == none
    hardware.remember({"ok": False, "qemu": "8.2", "host": HOST, "steps": []})
    assert "failed on" in hardware.tested_words(HOST)
    path.write_text("[]")
    assert hardware.tested_words(HOST) == none


def test_a_report_has_the_words_beside_the_machine() -> None:
    report = wall()
    report.host |= {"accel": "kvm", "hardware": "measured on hardware"}
    assert "(kvm) guests" in machine(report) and "measured on hardware" in machine(report)
