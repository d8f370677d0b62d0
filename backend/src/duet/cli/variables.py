# SPDX-License-Identifier: GPL-2.0-or-later
"""An environment variable that has another value for a while."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def variable(name: str, value: str | None) -> Iterator[None]:
    """Set `name` to `value`; None leaves it as it is."""
    before = os.environ.get(name)
    if value is not None:
        os.environ[name] = value
    try:
        yield
    finally:
        if value is not None:
            del os.environ[name]
        if value is not None and before is not None:
            os.environ[name] = before
