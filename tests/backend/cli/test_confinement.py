# SPDX-License-Identifier: GPL-2.0-or-later
"""What of the confinement is missing is said, and what would expose the host is refused."""

from __future__ import annotations

import pytest

from duet.cli.doctor import machine
from duet.cli.entry import main
from duet.export import browser

ALONE = "It runs as the server's own user 1000: only root can give it another."


def test_without_root_doctor_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "missing_user", lambda: ALONE)
    check = machine._users()
    assert (check.status, check.found) == ("warning", ALONE) and "as root" in check.remedy
    monkeypatch.setattr(machine, "missing_user", lambda: "")
    assert machine._users().found.startswith("each guest gets a user of its own")


def test_namespaces_and_groups_that_the_host_refuses_are_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(machine, "missing_namespaces", lambda: "bubblewrap is refused: no")
    check = machine._namespaces()
    assert (check.status, check.found) == ("warning", "bubblewrap is refused: no")
    monkeypatch.setattr(machine, "missing_namespaces", lambda: "")
    assert machine._namespaces().status == "ok"
    monkeypatch.setattr("duet.confine.control_groups._parents", lambda kind: [])
    check = machine._budgets()
    assert check.found == "no control group for memory and pids and cpu can be made here"
    assert "Delegate=yes" in check.remedy


def test_a_chromium_without_its_sandbox_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browser, "find_chromium", lambda: "/usr/bin/chromium")
    monkeypatch.setattr(machine, "missing_user", lambda: "")
    for works, words in ((True, "in its own sandbox"), (False, "refuses user namespaces")):
        monkeypatch.setattr(browser, "can_make_user_namespace", lambda works=works: works)
        assert words in machine._chromium().found
    monkeypatch.setattr(machine, "missing_user", lambda: ALONE)
    monkeypatch.setattr("os.geteuid", lambda: 0)
    assert "never runs as root" in machine._chromium().found


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7"])
def test_guests_with_the_hosts_files_are_not_offered_to_other_machines(
    host: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DUET_GUEST", "vng")
    assert main(["serve", "--host", host, "--port", "0", "--token-required"]) == 2
    said = capsys.readouterr().err
    assert "each guest sees this machine's files" in said and "--host 127.0.0.1" in said
