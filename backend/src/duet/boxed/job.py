# SPDX-License-Identifier: GPL-2.0-or-later
"""What is to be done in a box, and what was done: the JSON between the server and the helper."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from duet.boxed.limits import BoxLimits
from duet.boxed.results import Wanted


@dataclass(frozen=True, slots=True)
class Step:
    """One program; the next starts when it has ended with 0.

    Args:
        name: for sentences: "patch", "make".
    """

    name: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Job:
    """Programs over one folder, which stays as it is.

    Args:
        tree: absolute; its place is the same in the box, where it can be written.
        files: name -> content, to be read in the box as INPUTS/name.
        readable: absolute folders that can be read in the box, at their own places (ccache's).
        environment: all of it.
        results: what is copied out when all steps have ended with 0.
    """

    tree: str
    steps: tuple[Step, ...]
    files: Mapping[str, str] = field(default_factory=dict)
    readable: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    results: tuple[Wanted, ...] = ()


INPUTS = "/inputs"


@dataclass(frozen=True, slots=True)
class Order:
    """A job with all that the helper needs.

    Args:
        scratch: an empty folder that every user may pass through.
        uid: of the box; None: that of the helper.
        groups: files into which the first process of the box writes its id.
    """

    job: Job
    limits: BoxLimits
    scratch: str
    uid: int | None
    groups: tuple[str, ...] = ()

    def text(self) -> str:
        """As JSON."""
        return json.dumps(asdict(self))


def read_order(text: str) -> Order:
    """The reverse of Order.text()."""
    data = json.loads(text)
    job = data["job"]
    job["steps"] = tuple(Step(one["name"], tuple(one["words"])) for one in job["steps"])
    job["results"] = tuple(Wanted(**one) for one in job["results"])
    return Order(
        Job(**job), BoxLimits(**data["limits"]), data["scratch"], data["uid"], tuple(data["groups"])
    )


@dataclass(frozen=True, slots=True)
class Report:
    """What the helper says at its end.

    Args:
        failed: name of the step that ended otherwise than with 0; "": none.
        code: of that step; negative: the signal.
        broken: why the box itself could not be made, or a result not be taken; "".
        written_bytes: into the tree.
        sizes: name -> bytes of the results.
    """

    failed: str = ""
    code: int = 0
    broken: str = ""
    bad_result: str = ""
    written_bytes: int = 0
    sizes: Mapping[str, int] = field(default_factory=dict)

    def text(self) -> str:
        """As JSON."""
        return json.dumps(asdict(self))


def read_report(text: str) -> Report:
    """The reverse of Report.text()."""
    return Report(**json.loads(text))
