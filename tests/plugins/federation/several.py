# SPDX-License-Identifier: GPL-2.0-or-later
"""Servers of a toy's runs in this process that share the classes of one PostgreSQL."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from duet.api.app import create_app
from duet.server.director import Director
from duet.store.store import Store
from duet.stream.hub import Hub
from tests.support.postgres import INSTALLED, postgres
from tests.support.proxy import free_port
from tests.support.toy_server import serving
from tests.support.toy_stage import ToyKernels, ToyRecordings, ToyStage


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    """A URL of SQLAlchemy."""
    if not INSTALLED:
        pytest.skip("PostgreSQL's programs are not installed")
    with postgres() as server:
        yield server.url


@contextlib.contextmanager
def server(folder: Path, database: str, stage: ToyStage | None = None) -> Iterator[str]:
    """One of several servers; yields host:port."""
    port = free_port()

    def director(hub: Hub) -> Director:
        store = Store(database, f"http://127.0.0.1:{port}")
        guests = stage or ToyStage(50.0)
        return Director(hub, guests, ToyRecordings(), ToyKernels(), store=store)

    (folder / "index.html").write_text("built")
    with serving(create_app(director, page=folder), port=port) as address:
        yield address
