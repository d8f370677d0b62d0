# SPDX-License-Identifier: GPL-2.0-or-later
"""LTI tables: used nonces, students' activities, and scores for platforms."""

from __future__ import annotations

from typing import Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKeyConstraint,
    Integer,
    String,
    Table,
    Text,
)

from duet.store.tables import ID, METADATA, WORD

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
"""The course that each teacher most recently came from."""
