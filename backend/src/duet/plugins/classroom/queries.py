# SPDX-License-Identifier: GPL-2.0-or-later
"""Database operations for classes. Each function runs within a transaction of the store."""

from __future__ import annotations

import secrets
import time
from collections.abc import Container
from dataclasses import asdict
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Row, delete, func, insert, select, update

from duet.plugins.classroom import board
from duet.plugins.classroom.records import (
    AnswerFacts,
    ClassFacts,
    ConfusionFacts,
    MemberFacts,
    OpenedFacts,
    PlaceFacts,
    QuestionFacts,
    Stored,
    Tried,
    TryFacts,
)
from duet.plugins.classroom.tables import (
    ANSWERS,
    CLASSES,
    CONFUSION,
    GALLERIES,
    MAKERS,
    MEMBERS,
    OPENED,
    QUESTIONS,
    TRIES,
)

ENDED = "The server ended before this run was over. Try it again."


def open_step(connection: Connection, class_id: str, facts: OpenedFacts) -> None:
    """Let the class try runs in a step."""
    close_step(connection, class_id, facts.lesson, facts.step)
    connection.execute(insert(OPENED).values(class_id=class_id, **asdict(facts)))


def close_step(connection: Connection, class_id: str, lesson: str, step: str) -> None:
    of = (OPENED.c.class_id == class_id, OPENED.c.lesson == lesson, OPENED.c.step == step)
    connection.execute(delete(OPENED).where(*of))


def show_gallery(connection: Connection, class_id: str, shown: bool) -> None:
    connection.execute(delete(GALLERIES).where(GALLERIES.c.class_id == class_id))
    connection.execute(insert(GALLERIES).values(class_id=class_id, shown=shown))


def put_try(connection: Connection, class_id: str, facts: TryFacts) -> None:
    """Store a try or its new state. Do nothing if its class has been deleted."""
    of = (TRIES.c.class_id == class_id, TRIES.c.number == facts.number)
    values = asdict(facts) | {"class_id": class_id, "arms": list(facts.arms)}
    makers = values.pop("makers")
    if not connection.execute(update(TRIES).where(*of).values(values)).rowcount:
        there = select(CLASSES.c.class_id).where(CLASSES.c.class_id == class_id)
        if connection.execute(there).first() is None:
            return
        connection.execute(insert(TRIES).values(values))
    for member in makers:
        add_maker(connection, class_id, facts.number, member)


def add_maker(connection: Connection, class_id: str, number: int, member: str) -> None:
    """Add a member to the makers of a try."""
    of = (
        MAKERS.c.class_id == class_id,
        MAKERS.c.number == number,
        MAKERS.c.member == member,
    )
    if connection.execute(select(MAKERS.c.member).where(*of)).first() is None:
        values = {"class_id": class_id, "number": number, "member": member}
        values["asked_s"] = time.time()
        connection.execute(insert(MAKERS).values(values))


def drop_maker(connection: Connection, class_id: str, number: int, member: str) -> None:
    """Remove a member from the makers of a try."""
    of = (MAKERS.c.class_id == class_id, MAKERS.c.number == number, MAKERS.c.member == member)
    connection.execute(delete(MAKERS).where(*of))


def end_try(connection: Connection, class_id: str, facts: TryFacts) -> None:
    """Store how a try ended. Do nothing if the try has been deleted."""
    of = (TRIES.c.class_id == class_id, TRIES.c.number == facts.number)
    values = {"state": facts.state, "sentence": facts.sentence, "result": facts.result}
    connection.execute(update(TRIES).where(*of).values(values))


def drop_tries(connection: Connection, class_id: str, numbers: list[int]) -> None:
    """Delete tries and their makers."""
    of = (TRIES.c.class_id == class_id, TRIES.c.number.in_(numbers))
    connection.execute(delete(TRIES).where(*of))


def drop_unmade(connection: Connection, class_id: str) -> None:
    """Delete a class's tries that have no makers left."""
    made = select(MAKERS.c.number).where(MAKERS.c.class_id == class_id)
    of = (TRIES.c.class_id == class_id, TRIES.c.number.not_in(made))
    connection.execute(delete(TRIES).where(*of))


def end_unfinished(connection: Connection, class_id: str | None = None) -> None:
    """Mark unfinished tries as failed, because the server that executed them has ended.

    Args:
        class_id: the class that this server takes over. None means all classes.
    """
    unfinished = update(TRIES).where(TRIES.c.state.in_(("waiting", "running")))
    if class_id is not None:
        unfinished = unfinished.where(TRIES.c.class_id == class_id)
    connection.execute(unfinished.values(state="failed", sentence=ENDED))


def held_runs(connection: Connection) -> list[tuple[str, str]]:
    """Return (run id, class id) for each finished run of an open class, oldest first."""
    query = (
        select(TRIES.c.run_id, TRIES.c.class_id)
        .join(CLASSES, CLASSES.c.class_id == TRIES.c.class_id)
        .where(CLASSES.c.ended_s.is_(None), TRIES.c.state == "done")
        .order_by(TRIES.c.asked_s)
    )
    return [(row.run_id, row.class_id) for row in connection.execute(query)]


def tried(connection: Connection, class_id: str) -> Tried:
    """Load a class's tries, and the steps in which the class may try runs."""
    opened, galleries, tries, makers = (
        connection.execute(select(table).where(table.c.class_id == class_id).order_by(*order))
        for table, order in (
            (OPENED, (OPENED.c.lesson, OPENED.c.step)),
            (GALLERIES, ()),
            (TRIES, (TRIES.c.number,)),
            (MAKERS, (MAKERS.c.number, MAKERS.c.asked_s)),
        )
    )
    of: dict[int, list[str]] = {}
    for row in makers:
        of.setdefault(row.number, []).append(row.member)
    return Tried(
        tuple(OpenedFacts(row.lesson, row.step, row.patches) for row in opened),
        any(row.shown for row in galleries),
        tuple(try_facts(row, tuple(of.get(row.number, ()))) for row in tries),
    )


def try_facts(row: Row[Any], makers: tuple[str, ...]) -> TryFacts:
    names = set(TryFacts.__dataclass_fields__) - {"makers"}
    values = {name: value for name, value in row._mapping.items() if name in names}
    return TryFacts(**values | {"arms": tuple(row.arms), "makers": makers})


# Class codes consist of three short words that can be read aloud across a room.
#
# No two words of the list sound the same, and words with a common homophone (`sea`, `two`, `flour`)
# are left out. Each word has three to eight letters. 331 words make 36 million codes.

WORD_LIST: Final = """
    acid acorn actor album alert amber ankle apple apron arena army arrow aspen atlas attic
    autumn axis bacon badge bagel bakery bamboo banana banjo barrel basil basket beagle beaver
    bedroom bench bicycle bishop bison blanket bonus bottle bounce branch brave brick bridge
    bronze brush bubble bucket budget buffalo bundle butter button cabin cable cactus camel
    camera canal candle canoe captain carbon carpet castle cedar celery chalk cherry chess
    chimney circle citrus clay clever cliff clock cloud clover cobalt coconut coffee comet
    copper corner cotton cowboy cradle crane crater cricket crystal cube curtain cycle dance
    danger delta denim diamond dinner dolphin donkey dragon drum duck eagle early earth easel
    echo eclipse elbow ember empty engine estate evening fabric falcon famous farmer feather
    fence fern fiddle field finger flag flame flute forest fossil fox friend frost galaxy garden
    garlic ginger giraffe glacier globe glove goblet golden grape gravel guitar hammer harbor
    harvest hazel helmet hockey honey hotel hundred igloo image indigo insect island ivory
    jacket jaguar jelly jigsaw jungle kettle kidney kitchen kitten kiwi koala lagoon lake lamp
    lantern laptop lemon lentil leopard letter lizard lobster lotus lunch magnet mango maple
    marble market meadow melon middle mirror monkey mosaic motor mountain museum mushroom napkin
    narrow needle nickel noodle north ocean olive onion opera orange orbit orchid otter oven owl
    oxygen oyster paddle palace panda panther parrot pasta pebble pencil pepper piano picnic
    piglet pillow pilot pirate planet plastic pocket poem polar pony poppy potato powder pretzel
    prism pumpkin puppet puzzle quilt rabbit radar radio raven ribbon river robin robot rocket
    ruby saddle salad salmon sample sandal saturn scarf school scooter shadow shell silver
    sister sketch slipper smooth snow sofa spider sponge spoon spring square squid stable
    sticker storm summer sunset swan table tablet tango teapot temple tennis thunder tiger
    timber tomato topaz tower tractor trumpet tulip tunnel turtle ultra umbrella unicorn valley
    vanilla velvet violet violin volcano voyage waffle walnut walrus water whisper willow window
    winter wizard wolf wonder yellow yogurt zebra zipper
"""
WORDS: Final = tuple(WORD_LIST.split())
IN_CODE: Final = 3


def new_code(taken: Container[str]) -> str:
    """Make a code whose normalized form is not taken."""
    while True:
        code = "-".join(secrets.choice(WORDS) for _ in range(IN_CODE))
        if squeezed(code) not in taken:
            return code


def squeezed(code: str) -> str:
    """Normalize a code: ignore case, spaces and hyphens."""
    return "".join(code.split()).replace("-", "").casefold()


def start_class(connection: Connection, facts: ClassFacts) -> ClassFacts:
    """Store a new class under a code that no other open class has."""
    taken = set(connection.scalars(select(CLASSES.c.code_key).where(CLASSES.c.ended_s.is_(None))))
    code = new_code(taken)
    values = asdict(facts) | {"code": code, "code_key": squeezed(code)}
    values |= {"used_s": facts.started_s, "place_number": 0}
    connection.execute(insert(CLASSES).values(values))
    return ClassFacts(**(asdict(facts) | {"code": code}))


def end_class(connection: Connection, class_id: str, now_s: float) -> None:
    """Mark a class as ended, so that a new class can get its code."""
    _change(connection, class_id, ended_s=now_s)


def delete_class(connection: Connection, class_id: str) -> None:
    connection.execute(delete(CLASSES).where(CLASSES.c.class_id == class_id))


def set_driver(connection: Connection, class_id: str, driver: str) -> None:
    """Let another member drive. An empty name stands for the instructor."""
    _change(connection, class_id, driver=driver)


def put_place(connection: Connection, class_id: str, place: PlaceFacts) -> None:
    _change(
        connection,
        class_id,
        place_number=place.number,
        place_at_s=place.at_s,
        place=place.fields,
        used_s=place.at_s,
    )


def add_member(connection: Connection, class_id: str, member: MemberFacts) -> None:
    connection.execute(insert(MEMBERS).values(class_id=class_id, **asdict(member)))
    _change(connection, class_id, used_s=member.joined_s)


def forget_member(connection: Connection, class_id: str, member: str) -> None:
    """Delete a member's nickname, answers, questions and votes."""
    board.forget(connection, class_id, member)
    of = (MEMBERS.c.class_id == class_id, MEMBERS.c.member == member)
    connection.execute(delete(MEMBERS).where(*of))
    driven = (CLASSES.c.class_id == class_id, CLASSES.c.driver == member)
    connection.execute(update(CLASSES).where(*driven).values(driver=""))


def put_question(connection: Connection, class_id: str, question: QuestionFacts) -> None:
    """Store a question or its new state."""
    values = asdict(question) | {"options": list(question.options)}
    this = _that_question(class_id, question)
    if connection.execute(update(QUESTIONS).where(*this).values(values)).rowcount:
        return
    asked = select(func.count()).select_from(QUESTIONS).where(QUESTIONS.c.class_id == class_id)
    number = connection.scalar(asked)
    connection.execute(insert(QUESTIONS).values(values | {"class_id": class_id, "number": number}))


def open_question(connection: Connection, class_id: str, question: QuestionFacts) -> None:
    """Store a question that was opened by its first answer. Do nothing if the question is stored
    already."""
    there = select(QUESTIONS.c.number).where(*_that_question(class_id, question))
    if connection.execute(there).first() is None:
        put_question(connection, class_id, question)


def _that_question(class_id: str, question: QuestionFacts) -> tuple[ColumnElement[bool], ...]:
    return (
        QUESTIONS.c.class_id == class_id,
        QUESTIONS.c.step == question.step,
        QUESTIONS.c.question == question.question,
    )


def put_answer(connection: Connection, class_id: str, answer: AnswerFacts) -> None:
    """Store an answer. It replaces the member's earlier answer in the same round."""
    of = (
        ANSWERS.c.class_id == class_id,
        ANSWERS.c.step == answer.step,
        ANSWERS.c.question == answer.question,
        ANSWERS.c.round == answer.round,
        ANSWERS.c.member == answer.member,
    )
    values = asdict(answer) | {"class_id": class_id, "at_s": time.time()}
    if not connection.execute(update(ANSWERS).where(*of).values(values)).rowcount:
        connection.execute(insert(ANSWERS).values(values))


def add_confusion(connection: Connection, class_id: str, at_s: int, step: str) -> None:
    """Add one to the number of members who are lost in this ten-second interval."""
    of = (
        CONFUSION.c.class_id == class_id,
        CONFUSION.c.at_s == at_s,
        CONFUSION.c.step == step,
    )
    more = update(CONFUSION).where(*of).values(count=CONFUSION.c.count + 1)
    if not connection.execute(more).rowcount:
        values = {"class_id": class_id, "at_s": at_s, "step": step, "count": 1}
        connection.execute(insert(CONFUSION).values(values))


def end_unused(connection: Connection, before_s: float, now_s: float) -> None:
    """End the open classes that nobody has visited since the given time."""
    unused = (CLASSES.c.ended_s.is_(None), CLASSES.c.used_s < before_s)
    connection.execute(update(CLASSES).where(*unused).values(ended_s=now_s))


def delete_ended(connection: Connection, before_s: float) -> int:
    """Delete classes that ended before the given time, with all their data. Return the number of
    these classes."""
    return connection.execute(delete(CLASSES).where(CLASSES.c.ended_s < before_s)).rowcount


def _change(connection: Connection, class_id: str, **values: Any) -> None:
    connection.execute(update(CLASSES).where(CLASSES.c.class_id == class_id).values(values))


def class_facts(row: Row[Any]) -> ClassFacts:
    names = ClassFacts.__dataclass_fields__
    return ClassFacts(**{name: value for name, value in row._mapping.items() if name in names})


def member_facts(row: Row[Any]) -> MemberFacts:
    return MemberFacts(row.member, row.name, row.secret_sha256, row.joined_s)


def question_facts(row: Row[Any]) -> QuestionFacts:
    options = tuple(row.options)
    return QuestionFacts(
        row.step, row.question, row.text, options, row.round, row.revealed, row.by_instructor
    )


def answer_facts(row: Row[Any]) -> AnswerFacts:
    names = AnswerFacts.__dataclass_fields__
    return AnswerFacts(**{name: value for name, value in row._mapping.items() if name in names})


def confusion_facts(row: Row[Any]) -> ConfusionFacts:
    return ConfusionFacts(row.at_s, row.step, row._mapping["count"])


def open_class(connection: Connection, code: str) -> str | None:
    """Return the id of the open class with that code. Case, spaces and hyphens are ignored."""
    of = (CLASSES.c.code_key == squeezed(code), CLASSES.c.ended_s.is_(None))
    found: str | None = connection.scalar(select(CLASSES.c.class_id).where(*of))
    return found


def load(connection: Connection, class_id: str) -> Stored | None:
    """Load all stored data of a class, or return None if there is no such class."""
    row = connection.execute(select(CLASSES).where(CLASSES.c.class_id == class_id)).first()
    if row is None:
        return None
    place = None
    if row.place is not None:
        place = PlaceFacts(row.place_number, row.place_at_s, row.place)
    members, questions, answers, confusion = (
        connection.execute(select(table).where(table.c.class_id == class_id).order_by(*order))
        for table, order in (
            (MEMBERS, (MEMBERS.c.joined_s, MEMBERS.c.member)),
            (QUESTIONS, (QUESTIONS.c.number,)),
            (ANSWERS, (ANSWERS.c.at_s, ANSWERS.c.member)),
            (CONFUSION, (CONFUSION.c.at_s, CONFUSION.c.step)),
        )
    )
    return Stored(
        class_facts(row),
        place,
        tuple(map(member_facts, members)),
        tuple(map(question_facts, questions)),
        tuple(map(answer_facts, answers)),
        tuple(map(confusion_facts, confusion)),
        board.load(connection, class_id),
        tried(connection, class_id),
    )


def classes_of(
    connection: Connection, instructor: str | None = None
) -> list[tuple[ClassFacts, int]]:
    """Return each class with its number of members, newest class first.

    Args:
        instructor: ident of the visitor who started the classes. None means all classes.
    """
    counted = (
        select(func.count())
        .select_from(MEMBERS)
        .where(MEMBERS.c.class_id == CLASSES.c.class_id)
        .scalar_subquery()
        .label("members")
    )
    asked = select(CLASSES, counted).order_by(CLASSES.c.started_s.desc())
    if instructor is not None:
        asked = asked.where(CLASSES.c.instructor == instructor)
    return [(class_facts(row), row.members) for row in connection.execute(asked)]
