# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables. A change of them needs a revision in migrations/versions; a test compares both."""

from __future__ import annotations

from typing import Final

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    text,
)

METADATA: Final = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)
ID, WORD = String(32), String(64)
OPEN: Final = text("ended_s IS NULL")

CLASSES: Final = Table(
    "classes",
    METADATA,
    Column("class_id", ID, primary_key=True),
    Column("code", WORD, nullable=False),
    Column("code_key", WORD, nullable=False),
    Column("title", String(120), nullable=False),
    Column("lesson", WORD, nullable=False),
    Column("instructor", WORD, nullable=False, index=True),
    Column("started_s", Float, nullable=False),
    Column("ended_s", Float),
    Column("used_s", Float, nullable=False),
    Column("driver", ID, nullable=False),
    Column("place_number", Integer, nullable=False),
    Column("place_at_s", Float),
    Column("place", JSON),
    Index(
        "ix_classes_open_code", "code_key", unique=True, sqlite_where=OPEN, postgresql_where=OPEN
    ),
)
MEMBERS: Final = Table(
    "members",
    METADATA,
    Column("class_id", ForeignKey("classes.class_id", ondelete="CASCADE"), primary_key=True),
    Column("member", ID, primary_key=True),
    Column("name", WORD, nullable=False),
    Column("secret_sha256", String(64), nullable=False),
    Column("joined_s", Float, nullable=False),
)
QUESTIONS: Final = Table(
    "questions",
    METADATA,
    Column("class_id", ForeignKey("classes.class_id", ondelete="CASCADE"), primary_key=True),
    Column("step", WORD, primary_key=True),
    Column("question", WORD, primary_key=True),
    Column("number", Integer, nullable=False),
    Column("text", String(300), nullable=False),
    Column("options", JSON, nullable=False),
    Column("round", Integer, nullable=False),
    Column("revealed", Boolean, nullable=False),
    Column("by_instructor", Boolean, nullable=False),
)
ANSWERS: Final = Table(
    "answers",
    METADATA,
    Column("class_id", ID, primary_key=True),
    Column("step", WORD, primary_key=True),
    Column("question", WORD, primary_key=True),
    Column("round", Integer, primary_key=True),
    Column("member", ID, primary_key=True),
    Column("choice", Integer),
    Column("value", Float),
    Column("mark", JSON(none_as_null=True)),
    Column("right", Boolean),
    Column("at_s", Float, nullable=False),
    ForeignKeyConstraint(
        ["class_id", "step", "question"],
        ["questions.class_id", "questions.step", "questions.question"],
        name="fk_answers_question",
        ondelete="CASCADE",
    ),
    ForeignKeyConstraint(
        ["class_id", "member"],
        ["members.class_id", "members.member"],
        name="fk_answers_member",
        ondelete="CASCADE",
    ),
)
CONFUSION: Final = Table(
    "confusion",
    METADATA,
    Column("class_id", ForeignKey("classes.class_id", ondelete="CASCADE"), primary_key=True),
    Column("at_s", Integer, primary_key=True),
    Column("step", WORD, primary_key=True),
    Column("count", Integer, nullable=False),
)
SECRETS: Final = Table(
    "server_secrets",
    METADATA,
    Column("name", WORD, primary_key=True),
    Column("secret", String(64), nullable=False),
)
"""By which servers that share the database know each other."""


# Tables of what a class has on all its screens: members' questions, their votes, the timer.


HASH: Final = String(64)

BOARDS: Final = Table(
    "boards",
    METADATA,
    Column("class_id", ForeignKey("classes.class_id", ondelete="CASCADE"), primary_key=True),
    Column("shown", Boolean, nullable=False),
    Column("timer_s", Float),
    Column("timer_ends_s", Float),
)
RAISED: Final = Table(
    "raised",
    METADATA,
    Column("class_id", ForeignKey("classes.class_id", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("step", WORD, nullable=False),
    Column("text", String(300), nullable=False),
    Column("asker_sha256", HASH, nullable=False),
    Column("answered", Boolean, nullable=False),
    Column("hidden", Boolean, nullable=False),
)
VOTES: Final = Table(
    "raised_votes",
    METADATA,
    Column("class_id", ID, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("voter_sha256", HASH, primary_key=True),
    ForeignKeyConstraint(
        ["class_id", "number"],
        ["raised.class_id", "raised.number"],
        name="fk_raised_votes_number",
        ondelete="CASCADE",
    ),
)


# The tables of what a class tries, in the same database; see tables.py.


OPENED: Final = Table(
    "class_opened",
    METADATA,
    Column("class_id", ForeignKey("classes.class_id", ondelete="CASCADE"), primary_key=True),
    Column("lesson", WORD, primary_key=True),
    Column("step", WORD, primary_key=True),
    Column("patches", Boolean, nullable=False),
)
GALLERIES: Final = Table(
    "class_galleries",
    METADATA,
    Column("class_id", ForeignKey("classes.class_id", ondelete="CASCADE"), primary_key=True),
    Column("shown", Boolean, nullable=False),
)
TRIES: Final = Table(
    "class_tries",
    METADATA,
    Column("class_id", ForeignKey("classes.class_id", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("lesson", WORD, nullable=False),
    Column("step", WORD, nullable=False),
    Column("workload", WORD, nullable=False),
    Column("clock", String(8), nullable=False),
    Column("arms", JSON, nullable=False),
    Column("params", JSON, nullable=False),
    Column("turned", JSON, nullable=False),
    Column("summary", String(300), nullable=False),
    Column("run_id", String(128), nullable=False),
    Column("state", String(8), nullable=False),
    Column("sentence", Text, nullable=False),
    Column("result", JSON(none_as_null=True)),
    Column("asked_s", Float, nullable=False),
)
MAKERS: Final = Table(
    "class_try_makers",
    METADATA,
    Column("class_id", ID, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("member", ID, primary_key=True),
    Column("asked_s", Float, nullable=False),
    ForeignKeyConstraint(
        ["class_id", "number"],
        ["class_tries.class_id", "class_tries.number"],
        name="fk_class_try_makers_try",
        ondelete="CASCADE",
    ),
    ForeignKeyConstraint(
        ["class_id", "member"],
        ["members.class_id", "members.member"],
        name="fk_class_try_makers_member",
        ondelete="CASCADE",
    ),
)


# The tables of labs, in the same database; see tables.py.


PEOPLE: Final = Table(
    "lab_people",
    METADATA,
    Column("person", WORD, primary_key=True),
    Column("name", WORD, nullable=False),
    Column("since_s", Float, nullable=False),
)
ATTEMPTS: Final = Table(
    "lab_attempts",
    METADATA,
    Column("lab", WORD, primary_key=True),
    Column("person", ForeignKey("lab_people.person", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("task", WORD, nullable=False),
    Column("answer", JSON, nullable=False),
    Column("found", JSON, nullable=False),
    Column("at_s", Float, nullable=False),
    Column("previous", String(64), nullable=False),
    Column("sha256", String(64), nullable=False),
)
GRADES: Final = Table(
    "lab_grades",
    METADATA,
    Column("lab", WORD, primary_key=True),
    Column("person", WORD, primary_key=True),
    Column("attempt", Integer, primary_key=True),
    Column("points", Float, nullable=False),
    Column("comment", Text, nullable=False),
    Column("by", WORD, nullable=False),
    Column("at_s", Float, nullable=False),
    ForeignKeyConstraint(
        ["lab", "person", "attempt"],
        ["lab_attempts.lab", "lab_attempts.person", "lab_attempts.number"],
        name="fk_lab_grades_attempt",
        ondelete="CASCADE",
    ),
)


# Tables of LTI: used nonces, activities of students, and the scores that platforms shall get.


LTI_NONCES: Final = Table(
    "lti_nonces",
    METADATA,
    Column("nonce", WORD, primary_key=True),
    Column("until_s", Float, nullable=False, index=True),
)
LTI_LINKS: Final = Table(
    "lti_links",
    METADATA,
    Column("person", ID, primary_key=True),
    Column("lab", WORD, primary_key=True),
    Column("link", WORD, primary_key=True),
    Column("platform", ID, nullable=False),
    Column("user_id", String(255), nullable=False),
    Column("lineitem", Text, nullable=False),
    Column("launched_s", Float, nullable=False),
)
LTI_SCORES: Final = Table(
    "lti_scores",
    METADATA,
    Column("person", ID, primary_key=True),
    Column("lab", WORD, primary_key=True),
    Column("link", WORD, primary_key=True),
    Column("given", Float, nullable=False),
    Column("most", Float, nullable=False),
    Column("scored", Integer, nullable=False),
    Column("all_tasks", Integer, nullable=False),
    Column("at_s", Float, nullable=False),
    Column("stamp_ms", BigInteger, nullable=False),
    Column("pending", Boolean, nullable=False, index=True),
    Column("tries", Integer, nullable=False),
    Column("next_s", Float, nullable=False),
    Column("trouble", String(300), nullable=False),
    ForeignKeyConstraint(
        ["person", "lab", "link"],
        ["lti_links.person", "lti_links.lab", "lti_links.link"],
        name="fk_lti_scores_link",
        ondelete="CASCADE",
    ),
)
LTI_COURSES: Final = Table(
    "lti_courses",
    METADATA,
    Column("person", ID, primary_key=True),
    Column("platform", ID, nullable=False),
    Column("members_url", Text, nullable=False),
    Column("launched_s", Float, nullable=False),
)
"""The course from which a teacher came last."""
