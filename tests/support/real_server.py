# SPDX-License-Identifier: GPL-2.0-or-later
"""The real server without guests, which plays the lessons' recordings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from duet.api.app import create_app
from duet.kernels import KernelSettings
from duet.server.wiring import default_director
from tests.support.toy_server import Page, page


def real_app(cache: Path, root: Path) -> Any:
    settings = KernelSettings(cache, root / "kernel-patches")
    return create_app(lambda hub: default_director(hub, settings, False), page=root / "none")


async def look(address: str, run: str | None) -> Page:
    """Open a recording, and wait until it is whole."""
    async with page(address) as one:
        await one.open(run)
        await one.until_type("reading", whole=True)
        return one


def keyed(messages: list[dict[str, Any]]) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Group the messages of lanes by kind, since lanes are decoded in parallel and in random order.

    Batches are joined, since a batch ends at a random row. Open spans change until the end, so only
    their last state counts, and `look` ends before it.
    """
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for m in messages:
        if m["type"] == "batch" and m["table"] != "open":
            whole = found.setdefault(("batch", m["arm"], m["table"]), {"n": 0, "columns": {}})
            assert m["seq"] == whole.setdefault("batches", 0)
            whole["batches"] += 1
            whole["n"] += m["n"]
            assert whole.setdefault("dtypes", m["dtypes"]) == m["dtypes"]
            for name, column in m["columns"].items():
                whole["columns"][name] = whole["columns"].get(name, b"") + column
        elif m["type"] in ("rows", "metrics"):
            kept = {key: value for key, value in m.items() if key not in ("run_id", "sent_ns")}
            found[m["type"], m["arm"]] = kept
    return {key: {k: v for k, v in one.items() if k != "batches"} for key, one in found.items()}
