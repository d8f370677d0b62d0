# SPDX-License-Identifier: GPL-2.0-or-later
"""What LTI stores in the database of classes; each function runs within one of its transactions."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from duet.classes.lti_tables import LTI_COURSES, LTI_LINKS, LTI_NONCES, LTI_SCORES
from duet.lti.refused import LaunchRefused

DAY_S = 86400.0


@dataclass(frozen=True, slots=True)
class Link:
    """An activity of one student.

    Args:
        person: `Person.key`.
        link: hash of registration, deployment and resource link.
        platform: `Platform.ident`.
        user_id: as the platform calls the person.
        lineitem: address of the column of its grade book.
    """

    person: str
    lab: str
    link: str
    platform: str
    user_id: str
    lineitem: str


def use_nonce(connection: Connection, nonce: str, until_s: float) -> None:
    """Use a nonce up, for ever: after `until_s` its state counts no more.

    Raises:
        LaunchRefused: it was used before.
    """
    connection.execute(delete(LTI_NONCES).where(LTI_NONCES.c.until_s < time.time()))
    there = connection.scalar(select(LTI_NONCES.c.nonce).where(LTI_NONCES.c.nonce == nonce))
    refused = LaunchRefused("this launch was used already; a message of a platform counts once.")
    if there is not None:
        raise refused
    try:
        with connection.begin_nested():  # another server on the same database may be faster
            connection.execute(insert(LTI_NONCES).values(nonce=nonce, until_s=until_s))
    except IntegrityError as error:
        raise refused from error


def put_link(connection: Connection, link: Link) -> None:
    """Store an activity at its launch.

    What the student has reached before is due there, too; so is a score that was given up, since
    the launch may name another column.
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
    """Store from which course a teacher came."""
    connection.execute(delete(LTI_COURSES).where(LTI_COURSES.c.person == person))
    values = {"person": person, "platform": platform, "members_url": members_url}
    connection.execute(insert(LTI_COURSES).values(values | {"launched_s": time.time()}))


def course(connection: Connection, person: str) -> tuple[str, str] | None:
    """Platform and address of the members of a teacher's course; None: there is none."""
    asked = select(LTI_COURSES.c.platform, LTI_COURSES.c.members_url)
    row = connection.execute(asked.where(LTI_COURSES.c.person == person)).first()
    return None if row is None else (row.platform, row.members_url)


def delete_old(connection: Connection, before_s: float) -> None:
    """Delete activities, their scores and courses whose last launch was before."""
    connection.execute(delete(LTI_LINKS).where(LTI_LINKS.c.launched_s < before_s))
    connection.execute(delete(LTI_COURSES).where(LTI_COURSES.c.launched_s < before_s))


def links(connection: Connection) -> list[Link]:
    """All activities of students."""
    return list(map(link_of, connection.execute(select(LTI_LINKS))))


def forget(connection: Connection, person: str) -> None:
    """Delete all that is stored of a person."""
    connection.execute(delete(LTI_LINKS).where(LTI_LINKS.c.person == person))
    connection.execute(delete(LTI_COURSES).where(LTI_COURSES.c.person == person))


def of_link(table: Any, link: Link) -> tuple[ColumnElement[bool], ...]:
    """Where the row of an activity is."""
    return table.c.person == link.person, table.c.lab == link.lab, table.c.link == link.link


def link_of(row: Row[Any]) -> Link:
    """A row that has the columns of LTI_LINKS."""
    return Link(*(row._mapping[name] for name in Link.__dataclass_fields__))
