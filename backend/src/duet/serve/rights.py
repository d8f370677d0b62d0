# SPDX-License-Identifier: GPL-2.0-or-later
"""Which action each command of a browser is; whose run it is decides more (director.py)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from duet.access import Action, Visitor
from duet.stream import messages as m

ACTIONS: Final[dict[type[m.Command], Action]] = {
    m.Open: Action.WATCH,
    m.Start: Action.RUN,
    m.Again: Action.RUN,
    m.Stop: Action.RUN,
    m.Do: Action.RUN,
    m.Hold: Action.RUN,
    m.TakeControl: Action.RUN,
    m.Measure: Action.MEASURE,
    m.Change: Action.CHANGE,
    m.DropChange: Action.CHANGE,
    m.Judge: Action.MEASURE,
    m.StartClass: Action.TEACH,
    m.ResumeClass: Action.TEACH,
    m.EndClass: Action.TEACH,
    m.HandWheel: Action.TEACH,
    m.AskClass: Action.TEACH,
    m.Reveal: Action.TEACH,
    m.JoinClass: Action.WATCH,
    m.LeaveClass: Action.WATCH,
    m.Drive: Action.WATCH,
    m.Follow: Action.WATCH,
    m.Answer: Action.WATCH,
    m.Confused: Action.WATCH,
    m.ForgetMe: Action.WATCH,
    m.RaiseQuestion: Action.WATCH,
    m.Upvote: Action.WATCH,
    m.SettleRaised: Action.TEACH,
    m.ShowRaised: Action.TEACH,
    m.CountDown: Action.TEACH,
    m.RemoveMember: Action.TEACH,
    m.WatchMember: Action.TEACH,
    m.Consent: Action.WATCH,
    m.ShowPlace: Action.WATCH,
    m.OpenStep: Action.TEACH,
    m.ShowGallery: Action.TEACH,
    m.TryRun: Action.RUN,
    m.TakeBackTry: Action.RUN,
}


def action_of(command: m.Command, in_lab: Callable[[str, str], bool]) -> Action:
    """What a visitor must be allowed to, to send this command.

    Args:
        in_lab: whether a lab has a task of a challenge, by lesson and challenge; its students
            have their changes judged.
    """
    if isinstance(command, m.Judge) and in_lab(command.lesson, command.challenge):
        return Action.ANSWER
    return ACTIONS[type(command)]


def denied(visitor: Visitor) -> dict[m.ActionName, str]:
    """What a visitor may not do, each with the reason, for the page."""
    names: dict[m.ActionName, Action] = {
        "watch": Action.WATCH,
        "run": Action.RUN,
        "change": Action.CHANGE,
        "answer": Action.ANSWER,
        "control_others": Action.CONTROL_OTHERS,
        "teach": Action.TEACH,
        "measure": Action.MEASURE,
        "delete_others": Action.DELETE_OTHERS,
    }
    return {
        name: visitor.refusal(action).sentence
        for name, action in names.items()
        if not visitor.may(action)
    }
