# SPDX-License-Identifier: GPL-2.0-or-later
"""The zygote starts on hosts that lack what one of its services needs."""

from __future__ import annotations

import pytest

from duet.confine import zygote


def test_a_service_that_cannot_be_imported_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    services = {
        "absent": "duet.no_such_module:Service",
        "unpack": "duet.bundle.reader:UnpackService",
    }
    monkeypatch.setattr(zygote, "SERVICES", services)
    zygote.warm()
    assert zygote.load("unpack").__name__ == "UnpackService"
    with pytest.raises(ImportError):
        zygote.load("absent")
