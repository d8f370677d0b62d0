# SPDX-License-Identifier: GPL-2.0-or-later
"""Scores that platforms shall get, in the database; each function runs within a transaction."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, insert, select, update

from duet.classes.lti_tables import LTI_LINKS, LTI_SCORES
from duet.grades import LabScore
from duet.lti.limits import SCORE_DAYS
from duet.lti.store import DAY_S, Link, link_of, of_link


@dataclass(frozen=True, slots=True)
class Due:
    """A score that a platform shall get.

    Args:
        at_s: Unix time at which the score was reached.
        stamp_ms: the same for the platform, later than that of any former score of the link.
    """

    link: Link
    given: float
    most: float
    scored: int
    tasks: int
    at_s: float
    stamp_ms: int
    tries: int

    @property
    def old(self) -> bool:
        """Whether it is given up."""
        return time.time() - self.stamp_ms / 1000 > SCORE_DAYS * DAY_S


def put_score(connection: Connection, score: LabScore) -> int:
    """A score is due at each activity of the person and the lab; how many these are.

    One that is older than what is stored, or the same, changes nothing.
    """
    if not score.tasks or score.most <= 0:
        return 0
    of = (LTI_LINKS.c.person == score.person, LTI_LINKS.c.lab == score.lab)
    links = connection.execute(select(LTI_LINKS).where(*of)).all()
    return sum(_put(connection, score, link_of(row)) for row in links)


def _put(connection: Connection, score: LabScore, link: Link) -> bool:
    values: dict[str, Any] = {
        "given": min(score.points, score.most),
        "most": score.most,
        "scored": sum(task.state == "scored" for task in score.tasks),
        "all_tasks": len(score.tasks),
    }
    here = of_link(LTI_SCORES, link)
    row = connection.execute(select(LTI_SCORES).where(*here)).first()
    if row is not None and score.at_s < row.at_s:
        return False
    if row is not None and all(row._mapping[name] == value for name, value in values.items()):
        return False
    last_ms = 0 if row is None else row.stamp_ms
    at_ms = int(min(score.at_s, time.time()) * 1000)
    values |= {"at_s": score.at_s, "stamp_ms": max(at_ms, last_ms + 1), "pending": True}
    values |= {"tries": 0, "next_s": 0.0, "trouble": ""}
    if row is not None:
        connection.execute(update(LTI_SCORES).where(*here).values(values))
    else:
        key = {"person": link.person, "lab": link.lab, "link": link.link}
        connection.execute(insert(LTI_SCORES).values(values | key))
    return True


def due(connection: Connection, most: int) -> list[Due]:
    """Scores whose time has come, those that wait longest first."""
    joined = LTI_SCORES.join(LTI_LINKS)
    asked = (
        select(LTI_SCORES, LTI_LINKS.c.platform, LTI_LINKS.c.user_id, LTI_LINKS.c.lineitem)
        .select_from(joined)
        .where(LTI_SCORES.c.pending, LTI_SCORES.c.next_s <= time.time())
        .order_by(LTI_SCORES.c.next_s, LTI_SCORES.c.stamp_ms)
        .limit(most)
    )
    return [
        Due(
            link_of(row), row.given, row.most, row.scored, row.all_tasks, row.at_s, row.stamp_ms,
            row.tries,
        )
        for row in connection.execute(asked)
    ]  # fmt: skip


def waiting(connection: Connection) -> list[tuple[str, int, str]]:
    """Lab, tries and trouble of each score that is still to be sent."""
    asked = select(LTI_SCORES.c.lab, LTI_SCORES.c.tries, LTI_SCORES.c.trouble)
    return [(row.lab, row.tries, row.trouble) for row in connection.execute(
        asked.where(LTI_SCORES.c.pending)
    )]  # fmt: skip


def settled(connection: Connection, one: Due, trouble: str = "") -> None:
    """A score needs no more tries, unless a newer one came meanwhile."""
    _change(connection, one, pending=False, trouble=trouble[:300])


def postpone(connection: Connection, one: Due, next_s: float, trouble: str) -> None:
    """Try a score again later, unless a newer one came meanwhile."""
    _change(connection, one, tries=one.tries + 1, next_s=next_s, trouble=trouble[:300])


def _change(connection: Connection, one: Due, **values: Any) -> None:
    here = (*of_link(LTI_SCORES, one.link), LTI_SCORES.c.stamp_ms == one.stamp_ms)
    connection.execute(update(LTI_SCORES).where(*here).values(values))
