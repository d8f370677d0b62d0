# SPDX-License-Identifier: GPL-2.0-or-later
"""LTI database operations. Each function runs within a transaction of the store."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from duet.plugins.labs.grades import LabScore
from duet.plugins.lti.limits import SCORE_DAYS
from duet.plugins.lti.refused import LaunchRefused
from duet.plugins.lti.tables import LTI_COURSES, LTI_LINKS, LTI_NONCES, LTI_SCORES
from duet.store.limits import DAY_S


@dataclass(frozen=True, slots=True)
class Link:
    """An activity that one student has launched.

    Args:
        person: `Person.key`.
        link: hash of registration, deployment and resource link.
        platform: `Platform.ident`.
        user_id: the person's id on the platform.
        lineitem: address of the activity's column in the platform's grade book.
    """

    person: str
    lab: str
    link: str
    platform: str
    user_id: str
    lineitem: str


def use_nonce(connection: Connection, nonce: str, until_s: float) -> None:
    """Mark a nonce as used. It may be deleted after `until_s`, when its state is no longer valid.

    Raises:
        LaunchRefused: the nonce was used before.
    """
    connection.execute(delete(LTI_NONCES).where(LTI_NONCES.c.until_s < time.time()))
    there = connection.scalar(select(LTI_NONCES.c.nonce).where(LTI_NONCES.c.nonce == nonce))
    refused = LaunchRefused("this launch was used already; a message of a platform is valid once.")
    if there is not None:
        raise refused
    try:
        with connection.begin_nested():  # another server may have inserted the nonce meanwhile
            connection.execute(insert(LTI_NONCES).values(nonce=nonce, until_s=until_s))
    except IntegrityError as error:
        raise refused from error


def put_link(connection: Connection, link: Link) -> None:
    """Store an activity at its launch.

    The student's earlier score for the lab becomes due for this activity, too. A score that the
    outbox has given up becomes due again, because the launch may name another column.
    """
    values = {name: getattr(link, name) for name in Link.__dataclass_fields__}
    values["launched_s"] = time.time()
    if connection.execute(
        update(LTI_LINKS).where(*of_link(LTI_LINKS, link)).values(values)
    ).rowcount:
        given_up = (~LTI_SCORES.c.pending, LTI_SCORES.c.trouble != "")
        again = update(LTI_SCORES).where(*of_link(LTI_SCORES, link), *given_up)
        connection.execute(again.values(pending=True, tries=0, next_s=0.0))
        return
    connection.execute(insert(LTI_LINKS).values(values))
    same = (LTI_SCORES.c.person == link.person, LTI_SCORES.c.lab == link.lab)
    newest = select(LTI_SCORES).where(*same).order_by(LTI_SCORES.c.at_s.desc()).limit(1)
    row = connection.execute(newest).first()
    if row is not None:
        known = dict(row._mapping) | {"link": link.link, "pending": True, "tries": 0}
        connection.execute(insert(LTI_SCORES).values(known | {"next_s": 0.0, "trouble": ""}))


def put_course(connection: Connection, person: str, platform: str, members_url: str) -> None:
    """Store the course that a teacher came from."""
    connection.execute(delete(LTI_COURSES).where(LTI_COURSES.c.person == person))
    values = {"person": person, "platform": platform, "members_url": members_url}
    connection.execute(insert(LTI_COURSES).values(values | {"launched_s": time.time()}))


def course(connection: Connection, person: str) -> tuple[str, str] | None:
    """Return (platform, address of the member list) of a teacher's course, or None if no course is
    stored."""
    asked = select(LTI_COURSES.c.platform, LTI_COURSES.c.members_url)
    row = connection.execute(asked.where(LTI_COURSES.c.person == person)).first()
    return None if row is None else (row.platform, row.members_url)


def delete_old(connection: Connection, before_s: float) -> None:
    """Delete courses and activities (with scores) whose last launch was before `before_s`."""
    connection.execute(delete(LTI_LINKS).where(LTI_LINKS.c.launched_s < before_s))
    connection.execute(delete(LTI_COURSES).where(LTI_COURSES.c.launched_s < before_s))


def links(connection: Connection) -> list[Link]:
    return list(map(link_of, connection.execute(select(LTI_LINKS))))


def forget(connection: Connection, person: str) -> None:
    connection.execute(delete(LTI_LINKS).where(LTI_LINKS.c.person == person))
    connection.execute(delete(LTI_COURSES).where(LTI_COURSES.c.person == person))


def of_link(table: Any, link: Link) -> tuple[ColumnElement[bool], ...]:
    """Return the condition for the row of an activity."""
    return table.c.person == link.person, table.c.lab == link.lab, table.c.link == link.link


def link_of(row: Row[Any]) -> Link:
    """Convert a row that has the columns of LTI_LINKS."""
    return Link(*(row._mapping[name] for name in Link.__dataclass_fields__))


# Scores for platforms.


@dataclass(frozen=True, slots=True)
class Due:
    """A score to be sent to a platform.

    Args:
        at_s: Unix time at which the score was reached.
        stamp_ms: the timestamp in ms that is sent. It is `at_s`, but always later than the
            timestamp of the link's former score.
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
        """Whether the score is too old to be retried."""
        return time.time() - self.stamp_ms / 1000 > SCORE_DAYS * DAY_S


def put_score(connection: Connection, score: LabScore) -> int:
    """Make a score due for each of the person's activities for the lab. Return the number of
    changed scores.

    A score changes nothing if it is older than the stored score, or if it has the same points.
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
    """Return due scores, beginning with those that have waited longest."""
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
    """Return (lab, tries, error) of each score that is still to be sent."""
    asked = select(LTI_SCORES.c.lab, LTI_SCORES.c.tries, LTI_SCORES.c.trouble)
    return [(row.lab, row.tries, row.trouble) for row in connection.execute(
        asked.where(LTI_SCORES.c.pending)
    )]  # fmt: skip


def settled(connection: Connection, one: Due, trouble: str = "") -> None:
    """Mark a score as sent or as given up, unless a newer score has replaced it meanwhile."""
    _change(connection, one, pending=False, trouble=trouble[:300])


def postpone(connection: Connection, one: Due, next_s: float, trouble: str) -> None:
    """Schedule a retry of a score, unless a newer score has replaced it meanwhile."""
    _change(connection, one, tries=one.tries + 1, next_s=next_s, trouble=trouble[:300])


def _change(connection: Connection, one: Due, **values: Any) -> None:
    here = (*of_link(LTI_SCORES, one.link), LTI_SCORES.c.stamp_ms == one.stamp_ms)
    connection.execute(update(LTI_SCORES).where(*here).values(values))
