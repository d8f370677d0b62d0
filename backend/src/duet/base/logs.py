# SPDX-License-Identifier: GPL-2.0-or-later
"""Context for log lines (run, lesson, lane, role), and log output as JSON.

`about` applies to the current task and to the tasks and threads that it starts. A log line must
not contain the identity of a visitor, an address, a token or a cookie.
"""

from __future__ import annotations

import contextlib
import json
import logging
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Final

FIELDS: Final = "duet_fields"
"""Attribute of a log record that holds the keys from `fields`."""
_ABOUT: ContextVar[Mapping[str, str]] = ContextVar("about", default=MappingProxyType({}))


@contextlib.contextmanager
def about(**words: str) -> Iterator[None]:
    """Add context to every log line inside the block."""
    before = _ABOUT.set({**_ABOUT.get(), **words})
    try:
        yield
    finally:
        _ABOUT.reset(before)


def fields(**values: str | float | bool) -> dict[str, object]:
    """Return the `extra` argument that adds keys to one log line. Keys for seconds end in _s."""
    return {FIELDS: values}


class JsonLines(logging.Formatter):
    """Format log lines as JSON objects: time, level, logger, message, context and extra keys."""

    def format(self, record: logging.LogRecord) -> str:
        """Format a record as one line; a traceback is stored under `error`."""
        tree: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **_ABOUT.get(),
            **getattr(record, FIELDS, {}),
        }
        if record.exc_info:
            tree["error"] = self.formatException(record.exc_info)
        return json.dumps(tree, default=str)


def set_up_logging(to_console: logging.Handler, as_lines: bool) -> None:
    """Set up logging.

    Args:
        to_console: the handler, used unless `as_lines` is set.
        as_lines: write JSON lines to standard error instead; these include one line for each run.
    """
    handler = logging.StreamHandler() if as_lines else to_console
    handler.setFormatter(
        JsonLines() if as_lines else logging.Formatter("%(levelname)s %(name)s: %(message)s")
    )
    logging.basicConfig(level=logging.INFO, handlers=[handler])
    for name in ("uvicorn", "alembic"):
        logging.getLogger(name).setLevel(logging.WARNING)
    logging.getLogger("duet.runs").setLevel(logging.INFO if as_lines else logging.ERROR)
