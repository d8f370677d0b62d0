# SPDX-License-Identifier: GPL-2.0-or-later
"""What a log line is about (run, lesson, lane, role), and log lines as JSON.

`about` holds for the task that enters it and for all that it starts, threads included. Who a
visitor is, an address, a token or a cookie belongs in no log line.
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
"""The attribute of a record that has what `fields` gave."""
_ABOUT: ContextVar[Mapping[str, str]] = ContextVar("about", default=MappingProxyType({}))


@contextlib.contextmanager
def about(**words: str) -> Iterator[None]:
    """Every log line from here on is about these, and about what it was before."""
    before = _ABOUT.set({**_ABOUT.get(), **words})
    try:
        yield
    finally:
        _ABOUT.reset(before)


def fields(**values: str | float | bool) -> dict[str, object]:
    """Further keys of one line, as `extra` of a logging call; seconds end in _s."""
    return {FIELDS: values}


class JsonLines(logging.Formatter):
    """One JSON object a line: time, level, logger, message, what it is about, its own fields."""

    def format(self, record: logging.LogRecord) -> str:
        """A record as one line; a traceback is the key `error`."""
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


def begin_log(to_console: logging.Handler, as_lines: bool) -> None:
    """Write the log: to the terminal, or as JSON on standard error, with a line for each run."""
    handler = logging.StreamHandler() if as_lines else to_console
    handler.setFormatter(
        JsonLines() if as_lines else logging.Formatter("%(levelname)s %(name)s: %(message)s")
    )
    logging.basicConfig(level=logging.INFO, handlers=[handler])
    for name in ("uvicorn", "alembic"):
        logging.getLogger(name).setLevel(logging.WARNING)
    logging.getLogger("duet.runs").setLevel(logging.INFO if as_lines else logging.ERROR)
