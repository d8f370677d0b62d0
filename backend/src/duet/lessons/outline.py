# SPDX-License-Identifier: GPL-2.0-or-later
"""A lesson's mail, terms and recap as plain HTML, for pages whose scripts are off."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from duet.errors import InputError
from duet.lessons.load import LessonFolder
from duet.lessons.schema import Mail, QuizQuestion
from duet.lessons.terms import explained


def outline(folder: LessonFolder) -> str:
    """HTML: who wrote the mail, the terms, what to explain, the questions; all escaped."""
    return "\n".join([*_mail(folder), *_terms(folder), *_recap(folder)])


def _mail(folder: LessonFolder) -> Iterator[str]:
    mail = next(iter(folder.lesson.mails.values()), None)
    if mail is not None:
        yield f"<p>{escape(mail.author)}, {escape(mail.date)}: {_subject(mail)}</p>"


def _subject(mail: Mail) -> str:
    subject = escape(mail.subject)
    if not mail.url:
        return f"{subject} (we know of no archive with an address for it)"
    return f'<a href="{escape(mail.url)}">{subject}</a>'


def _terms(folder: LessonFolder) -> Iterator[str]:
    try:
        terms = [one.term for one in explained(folder)]
    except InputError:  # duet lint reports it
        terms = []
    if terms:
        rows = (f"<dt><b>{escape(t.name)}</b></dt><dd>{escape(t.says)}</dd>" for t in terms)
        yield f"<h2>Words</h2>\n<dl>{''.join(rows)}</dl>"


def _recap(folder: LessonFolder) -> Iterator[str]:
    lesson = folder.lesson
    if lesson.explain is not None:
        ours = " ".join(escape(sentence) for sentence in lesson.explain.ours)
        yield f"<h2>In three sentences</h2>\n<p><b>{escape(lesson.explain.ask)}</b></p>"
        yield f"<details><summary>Ours</summary><p>{ours}</p></details>"
    if lesson.quiz:
        yield f"<h2>Questions</h2>\n<ol>{''.join(map(_question, lesson.quiz))}</ol>"


def _question(one: QuizQuestion) -> str:
    choices = f" ({escape(' / '.join(one.choices))})" if one.choices else ""
    return (
        f"<li>{escape(one.ask)}{choices}<details><summary>Answer</summary>"
        f"<p><b>{escape(right_answer(one))}.</b> {escape(one.why)}</p></details></li>"
    )


def right_answer(one: QuizQuestion) -> str:
    """In words: the right choice, or the number with its unit."""
    if one.choices and one.right is not None:
        return one.choices[one.right - 1]
    return f"{one.number:,.10g} {one.unit}".rstrip()
