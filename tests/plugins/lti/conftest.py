# SPDX-License-Identifier: GPL-2.0-or-later
"""A platform and our server, both real; shared by the tests of a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.plugins.lti.platform_side import Platform, platform_served
from tests.plugins.lti.tool import Browser, Tool, tool_served


@pytest.fixture(scope="module")
def platform() -> Iterator[Platform]:
    with platform_served(Platform()) as one:
        yield one


@pytest.fixture(scope="module")
def tool(platform: Platform, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tool]:
    with tool_served(tmp_path_factory.mktemp("tool"), platform) as one:
        yield one


@pytest.fixture
def browser() -> Browser:
    return Browser()


@pytest.fixture
def course(tmp_path: Path) -> Any:
    """A platform of its own, so that no other test's scores are in its grade book."""
    with platform_served(Platform()) as platform, tool_served(tmp_path, platform) as tool:
        yield tool, platform
