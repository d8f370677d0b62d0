# SPDX-License-Identifier: GPL-2.0-or-later
"""What the roles of a platform's message are here. Pure.

Source: https://www.imsglobal.org/spec/lti/v1p3#role-vocabularies
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from duet.base.access import Role

MEMBERSHIP: Final = "http://purl.imsglobal.org/vocab/lis/v2/membership"
TEACHERS: Final = frozenset({"Instructor", "TeachingAssistant"})
STUDENTS: Final = frozenset({"Learner"})


def role_of(roles: Iterable[str]) -> Role:
    """The highest role of the course.

    Roles of the institution and of the system do not count: Canvas sends an administrator's in
    courses in which that person is a student.
    """
    found = {name for role in roles for name in _of_course(role)}
    if found & TEACHERS:
        return Role.INSTRUCTOR
    return Role.STUDENT if found & STUDENTS else Role.VIEWER


def _of_course(role: str) -> tuple[str, ...]:
    """Names of a role of the course: a sub-role counts as its principal role and as itself.

    `membership#Instructor`, `membership/Instructor#TeachingAssistant`, and the short `Learner`.
    """
    vocabulary, hash_sign, name = role.rpartition("#")
    if not hash_sign:
        return () if ":" in role or "/" in role else (role,)
    if vocabulary == MEMBERSHIP:
        return (name,)
    if vocabulary.startswith(f"{MEMBERSHIP}/"):
        return (vocabulary.removeprefix(f"{MEMBERSHIP}/"), name)
    return ()
