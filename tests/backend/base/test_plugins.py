# SPDX-License-Identifier: GPL-2.0-or-later
"""Plug-ins are found in their order; one that lacks another is left out with a sentence."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from duet.base import plugins

PLUGIN = """
REQUIRES = {requires!r}

def register(core):
    core.offer(service="service")
    core.verb("{name}", "verb", "Does {name}.", "watch")
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package of plug-ins in place of the product's."""
    package = f"plugins_of_{tmp_path.name}"
    (tmp_path / package).mkdir()
    (tmp_path / package / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(plugins, "PACKAGE", package)
    for cached in (plugins.found, plugins.offered):
        cached.cache_clear()
    yield tmp_path / package
    for cached in (plugins.found, plugins.offered):
        cached.cache_clear()


def add(folder: Path, name: str, *requires: str) -> None:
    (folder / name).mkdir()
    (folder / name / "__init__.py").write_text(PLUGIN.format(name=name, requires=requires))
    (folder / name / "service.py").write_text(f"name = {name!r}")


def test_each_comes_after_those_that_it_requires(folder: Path) -> None:
    add(folder, "a", "c")
    add(folder, "b")
    add(folder, "c", "b")
    assert [one.name for one in plugins.found()] == ["b", "c", "a"]
    assert [one.name for one in plugins.offered("service")] == ["b", "c", "a"]
    assert [one.verbs[0][0] for one in plugins.found()] == ["b", "c", "a"]
    assert plugins.offered("rules") == ()


def test_one_that_lacks_another_is_left_out(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    add(folder, "a", "gone")
    add(folder, "b")
    assert [one.name for one in plugins.found()] == ["b"]
    assert "the plug-in a is left out: it needs gone" in caplog.text


def test_a_wrong_extension_point_is_named() -> None:
    with pytest.raises(ValueError, match="quiz offers sevice, which is not an extension point"):
        plugins.Registry("quiz", ()).offer(sevice="service")
