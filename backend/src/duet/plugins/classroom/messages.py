# SPDX-License-Identifier: GPL-2.0-or-later
"""Messages to and from the pages of a class."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StrictBool, StrictInt

from duet.base.access import Action
from duet.base.clock import Clock
from duet.messages.base import Command, Message, ServerMessage
from duet.messages.commands import Arms, Params

# Commands of a page of a class: of its instructor, its driver, its members.

NAME_CHARS = 32
MOST_OPTIONS = 6
Word = Annotated[str, Field(max_length=64)]
Number = Annotated[float, Field(allow_inf_nan=False, ge=-1e18, le=1e18)]
Round = Annotated[StrictInt, Field(ge=1, le=2)]
Part = Annotated[float, Field(ge=0, le=1)]


class SpotFields(Message):
    """A mark that pulses on all screens, or a lane for everyone to look at.

    Args:
        arm: the lane.
        row: of that lane; null: the whole lane.
        t_ns: the moment; null: no single one.
    """

    arm: Word
    row: Annotated[StrictInt, Field(ge=0, le=1 << 20)] | None = None
    t_ns: Number | None = None


class MarkFields(Message):
    """Where a person pointed, as fractions of the picture's width and height, and what is there."""

    x: Part
    y: Part
    arm: Word = ""
    row: Annotated[StrictInt, Field(ge=0, le=1 << 20)] | None = None
    t_ns: Number | None = None


class Spotlight(SpotFields):
    """As the driver sends it."""


class Mark(MarkFields):
    """As a member sends it."""


class PlaceFields(Message):
    """Where the driver is: a position in a lesson, no data.

    Args:
        lesson: slug of the open lesson.
        step: its step.
        place: the page's own address from its `writePlace` ("?lesson=...&step=..."): run, arms,
            knobs,
            clock, workload, window, alignment, panes. The server passes it on unchanged; pages read
            it like a link, and ignore what makes no sense.
        moment_ns: frame time; null: the step's own moment.
        mode: what the playback does from there.
        direction: 1 forwards, -1 backwards.
        speed: guest seconds per second; null: the step's own.
    """

    lesson: Annotated[str, Field(min_length=1, max_length=64)]
    step: Word = ""
    place: Annotated[str, Field(max_length=1024)] = ""
    moment_ns: Number | None = None
    mode: Literal["play", "paused", "scope"] = "paused"
    direction: Annotated[StrictInt, Field(ge=-1, le=1)] = 1
    speed: Annotated[float, Field(gt=0, le=1e6)] | None = None


class StartClass(Command):
    """Start a class of a lesson; this visitor is its instructor. `class_welcome` answers."""

    needs = Action.TEACH
    type: Literal["class_start"]
    lesson: Annotated[str, Field(min_length=1, max_length=64)]
    title: Annotated[str, Field(max_length=120)] = ""


class ResumeClass(Command):
    """The instructor's page returns to a class that this visitor started."""

    needs = Action.TEACH
    type: Literal["class_resume"]
    class_id: Word


class JoinClass(Command):
    """Join by the code, or come back by the secret from `class_welcome`.

    Args:
        code: three words, with spaces or `-` between.
        nickname: the student's choice; not needed with a known secret.
        secret: of a former `class_welcome` of this class; an unknown one joins as a new member.
    """

    needs = Action.WATCH
    type: Literal["class_join"]
    code: Word
    nickname: Annotated[str, Field(max_length=NAME_CHARS)] = ""
    secret: Word = ""


class LeaveClass(Command):
    """This page leaves the class; its member may come back by the secret."""

    needs = Action.WATCH
    type: Literal["class_leave"]


class EndClass(Command):
    """The instructor ends the class; answers stay for the report."""

    needs = Action.TEACH
    type: Literal["class_end"]


class Drive(PlaceFields, Command):
    """The driver's new position. As often as 10 a second; later ones replace earlier ones."""

    frequent = True
    needs = Action.WATCH
    type: Literal["class_drive"]
    spotlight: Spotlight | None = None


class Follow(Command):
    """A member follows or explores, and at which step; sent on change and on activity.

    Args:
        step: the one that the member sees.
    """

    needs = Action.WATCH
    type: Literal["class_follow"]
    following: StrictBool
    step: Word = ""


class HandWheel(Command):
    """The instructor lets a member drive, or drives again.

    Args:
        member: from the roster; empty: the instructor drives.
    """

    needs = Action.TEACH
    type: Literal["class_hand"]
    member: Word = ""


class AskClass(Command):
    """The instructor opens a question to the class, or its second round.

    Args:
        step: of a prediction of the lesson; empty: a free poll.
        question: the prediction's id (the page's), or a former poll's; empty: a new poll.
        round: 2 opens the second vote of think-pair-share.
        text: of a new poll.
        options: of a new poll, 2 to 6; for a prediction the labels of its choices, or none.
    """

    needs = Action.TEACH
    type: Literal["class_ask"]
    step: Word = ""
    question: Word = ""
    round: Round = 1
    text: Annotated[str, Field(max_length=300)] = ""
    options: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=120)]], Field(max_length=MOST_OPTIONS)
    ] = Field(default_factory=list)


class Answer(Command):
    """A member answers: one of choice, value and mark. A later answer of a round replaces it.

    Args:
        step: empty: a free poll.
        question: id of the prediction or poll.
        choice: number of the option, from 0.
        value: for a question about a number.
        right: the page's judgement, if the prediction has one; only shown in reports.
    """

    needs = Action.WATCH
    type: Literal["class_answer"]
    step: Word = ""
    question: Annotated[str, Field(min_length=1, max_length=64)]
    round: Round = 1
    choice: Annotated[StrictInt, Field(ge=0, le=63)] | None = None
    value: Number | None = None
    mark: Mark | None = None
    right: StrictBool | None = None


class Reveal(Command):
    """The instructor shows everyone the answers; later answers are refused."""

    needs = Action.TEACH
    type: Literal["class_reveal"]
    step: Word = ""
    question: Annotated[str, Field(min_length=1, max_length=64)]


class Confused(Command):
    """A member is lost at this moment. Counted without a name."""

    needs = Action.WATCH
    type: Literal["class_confused"]


class ForgetMe(Command):
    """Delete what this class holds of this member: the nickname and all answers."""

    needs = Action.WATCH
    type: Literal["class_forget"]


ClassPart = Literal["instructor", "member"]


class Spot(SpotFields):
    """The driver's spotlight."""


class Pointed(MarkFields):
    """Where a person pointed."""


class ClassWelcome(ServerMessage):
    """This page is in the class now. `class`, `class_place` and all `class_question` follow."""

    lasting = True
    type: Literal["class_welcome"] = "class_welcome"
    class_id: str
    part: ClassPart
    member: str = Field(description="id of the member; empty: the instructor")
    name: str = Field(description="as the class sees it, with a suffix if it was taken")
    secret: str = Field(
        description="of the member, to come back by; the page stores it. Empty: the instructor"
    )


class ClassState(ServerMessage):
    """The class; latest wins. Sent to each of its pages."""

    latest_by = ()
    lasting = True
    type: Literal["class"] = "class"
    class_id: str
    title: str
    lesson: str
    code: str = Field(description="three words with - between")
    link: str = Field(description="relative to the page's folder: ?class=CODE")
    open: bool = Field(description="false: it has ended, or this page left it")
    part: ClassPart
    driving: bool = Field(description="this page may send class_drive")
    driver: str = Field(description="name of who drives; empty: the instructor")
    driver_member: str = Field(description="its id; empty: the instructor")
    members: int
    connected: int


class ClassPlace(PlaceFields, ServerMessage):
    """The driver's position; latest wins. Sent to newcomers and reconnecting pages at once."""

    latest_by = ()
    lasting = True
    type: Literal["class_place"] = "class_place"
    spotlight: Spot | None = None
    class_id: str
    number: int = Field(description="rises with each place; also over a restart of the server")
    age_s: float = Field(
        default=0.0, ge=0, description="since the driver sent it; a page that plays adds it"
    )
    sent_ns: float = Field(default=0.0, description="Unix time in ns when the server sent it")


class RosterMember(Message):
    """A member as the instructor sees it."""

    member: str
    name: str
    connected: bool
    following: bool = Field(description="false: explores")
    step: str
    idle_s: float = Field(description="since the member's last command, when this was sent")
    driving: bool
    answered: int = Field(description="questions answered in any round")


class ClassRoster(ServerMessage):
    """All members, to the instructor, at most once a second; latest wins."""

    latest_by = ()
    lasting = True
    type: Literal["class_roster"] = "class_roster"
    class_id: str
    members: list[RosterMember]


class ClassQuestion(ServerMessage):
    """A question that was asked; latest wins per (step, question). To all."""

    latest_by = ("step", "question")
    lasting = True
    type: Literal["class_question"] = "class_question"
    class_id: str
    step: str = Field(description="empty: a free poll")
    question: str
    text: str
    options: list[str]
    round: Round = Field(description="that is open, or was the last")
    revealed: bool


class Bar(Message):
    """How many members gave one answer."""

    choice: int | None = Field(description="number of the option; null: this is a value")
    value: float | None
    count: int


class TallyRound(Message):
    """One round."""

    round: Round
    answers: int
    bars: list[Bar]
    marks: list[Pointed] = Field(description="without names")
    right: int | None = Field(description="how many were right; null: nobody was judged")


class ClassTally(ServerMessage):
    """The answers so far; latest wins per (step, question).

    To the instructor live, at most 4 a second; to everyone once revealed, never before.
    """

    latest_by = ("step", "question")
    lasting = True
    type: Literal["class_tally"] = "class_tally"
    class_id: str
    step: str
    question: str
    revealed: bool
    rounds: list[TallyRound]


class ClassAnswered(ServerMessage):
    """An answer is stored on disk; sent to its member, and again for each answer when the
    member returns.
    """

    lasting = True
    type: Literal["class_answered"] = "class_answered"
    class_id: str
    step: str
    question: str
    round: Round
    choice: int | None
    value: float | None
    mark: Pointed | None


class Confusion(Message):
    """How many members were lost in ten seconds."""

    at_s: int = Field(description="seconds since the class began, a multiple of 10")
    count: int
    step: str = Field(description="where the driver was")


class ClassConfusion(ServerMessage):
    """The curve of confusion, to the instructor; latest wins."""

    latest_by = ()
    lasting = True
    type: Literal["class_confusion"] = "class_confusion"
    class_id: str
    points: list[Confusion]


# Questions that members ask, with their votes, and the timer of a class: both directions.


RAISED_CHARS = 280
TIMER_S = 3600
RaisedNumber = Annotated[StrictInt, Field(ge=1, le=1 << 20)]


class RaiseQuestion(Command):
    """A member asks the instructor a question, without a name. `class_own` confirms it.

    Args:
        text: plain text.
        step: the one that the member sees.
    """

    needs = Action.WATCH
    type: Literal["class_raise"]
    text: Annotated[str, Field(min_length=1, max_length=RAISED_CHARS)]
    step: Word = ""


class Upvote(Command):
    """A member votes for a question, or withdraws the vote."""

    needs = Action.WATCH
    type: Literal["class_upvote"]
    number: RaisedNumber
    on: StrictBool = True


class SettleRaised(Command):
    """The instructor sets the state of a question.

    Args:
        answered: the class has got its answer.
        hidden: from members and reports.
    """

    needs = Action.TEACH
    type: Literal["class_settle"]
    number: RaisedNumber
    answered: StrictBool
    hidden: StrictBool


class ShowRaised(Command):
    """The instructor shows the questions to all members, or hides them."""

    needs = Action.TEACH
    type: Literal["class_show_raised"]
    shown: StrictBool


class CountDown(Command):
    """The instructor starts the timer, extends it, or stops it.

    Args:
        act: start resets it.
        seconds: from now, or added.
    """

    needs = Action.TEACH
    type: Literal["class_count_down"]
    act: Literal["start", "extend", "stop"]
    seconds: Annotated[StrictInt, Field(ge=1, le=TIMER_S)] = 60


class RemoveMember(Command):
    """The instructor removes a member, and deletes what the class stores of them.

    Args:
        member: from the roster.
    """

    needs = Action.TEACH
    type: Literal["class_remove"]
    member: Annotated[str, Field(min_length=1, max_length=64)]


class Raised(Message):
    """A question of a member; nothing here says whose it is."""

    number: int
    step: str = Field(description="on which it was asked")
    text: str
    votes: int
    answered: bool
    hidden: bool = Field(description="only the instructor and who asked it have it")


class ClassRaised(ServerMessage):
    """Questions of members, those with the most votes first; latest wins.

    The instructor has all of them, members those that are not hidden, once they are shown.
    """

    latest_by = ()
    lasting = True
    type: Literal["class_raised"] = "class_raised"
    class_id: str
    shown: bool = Field(description="to all members")
    questions: list[Raised]


class ClassOwn(ServerMessage):
    """To the pages of one member: their questions, as stored, and their votes."""

    latest_by = ()
    lasting = True
    type: Literal["class_own"] = "class_own"
    class_id: str
    asked: list[Raised]
    voted: list[int] = Field(description="numbers of questions")


class ClassTimer(ServerMessage):
    """The timer on all screens; latest wins. A page counts down by its own clock."""

    latest_by = ()
    lasting = True
    type: Literal["class_timer"] = "class_timer"
    class_id: str
    length_s: float = Field(description="for which it was set, with what was added; 0: none is set")
    ends_ns: float | None = Field(description="Unix time in ns; null: there is no timer")
    sent_ns: float = Field(description="Unix time in ns when the server sent this")


# Tries: commands of pages, and what they receive.

Better = Literal["higher", "lower", "neither"]


class OpenStep(Command):
    """The instructor lets the class try runs in a step, or stops it.

    Args:
        knobs: members may turn knobs there.
        patches: and change patches, if the server builds changes.
    """

    needs = Action.TEACH
    type: Literal["class_open_step"]
    lesson: Annotated[str, Field(min_length=1, max_length=64)]
    step: Annotated[str, Field(min_length=1, max_length=64)]
    knobs: StrictBool
    patches: StrictBool = False


class ShowGallery(Command):
    """The instructor shows all members what the class has tried, or hides it."""

    needs = Action.TEACH
    type: Literal["class_show_gallery"]
    shown: StrictBool


class TryRun(Command):
    """A member tries a run in a step that is open for it; other fields are as in `start`.

    It waits behind this member's other tries and replaces none. A try that equals another one of
    the
    class is the same run, and this member becomes one more of its makers.
    """

    boots = True
    needs = Action.RUN
    type: Literal["class_try"]
    lesson: Annotated[str, Field(min_length=1, max_length=64)]
    step: Annotated[str, Field(min_length=1, max_length=64)]
    arms: Arms
    workload: Word | None = None
    params: Params = Field(default_factory=dict)
    clock: Clock | None = None


class TakeBackTry(Command):
    """A member withdraws a waiting try; it runs anyway if another member wants it."""

    needs = Action.RUN
    type: Literal["class_take_back"]
    number: Annotated[StrictInt, Field(ge=1, le=1 << 20)]


class OpenedStep(Message):
    """A step that is open."""

    lesson: str
    step: str
    patches: bool


class ClassOpened(ServerMessage):
    """Where the class may try; latest wins. Sent to each of its pages."""

    lasting = True
    type: Literal["class_opened"] = "class_opened"
    class_id: str
    steps: list[OpenedStep]
    gallery: bool = Field(description="members see what all have tried, not their own alone")
    no_runs: str = Field(description="why nobody can try here, a sentence; empty: they can")
    no_patches: str = Field(description="why no patch can be changed here; empty: it can")


class Maker(Message):
    """A member who requested a run."""

    member: str
    name: str


class TryLane(Message):
    """The number of one lane."""

    arm: str
    title: str
    value: float


class TryResult(Message):
    """The one number of a traced run: it explains, and proves nothing."""

    title: str
    unit: str
    better: Better
    lanes: list[TryLane] = Field(description="at most two: what is compared, and with what")
    ratio: float | None = Field(description="second over first; null: there are no two")


class ClassTry(Message):
    """A run that members requested."""

    number: int
    lesson: str
    step: str
    makers: list[Maker] = Field(description="the first one first")
    arms: list[str]
    params: dict[str, int]
    turned: dict[str, int] = Field(description="knobs that stand elsewhere than the step has them")
    workload: str
    clock: Clock
    summary: str = Field(description="of the changed patch in one line; empty: none was changed")
    run: str = Field(description="id of the run, live and saved")
    state: Literal["waiting", "running", "done", "failed"]
    place: int | None = Field(description="in the queue; null: it waits behind its maker's others")
    estimate_s: float | None = Field(description="until it starts, when this was sent")
    sentence: str = Field(description="why it failed, or some of its lanes")
    result: TryResult | None


class ClassTries(ServerMessage):
    """The tries that this page may see; latest wins, at most two a second."""

    lasting = True
    type: Literal["class_tries"] = "class_tries"
    class_id: str
    tries: list[ClassTry]


# The instructor observes a member, with the member's consent: both directions.


WatchPhase = Literal["none", "asking", "watched"]


class WatchMember(Command):
    """This page of the instructor asks to observe a member.

    Args:
        member: from the roster; empty: stop.
    """

    needs = Action.TEACH
    type: Literal["class_watch"]
    member: Word = ""


class Consent(Command):
    """A member allows the instructor to observe them in this class, or forbids it."""

    needs = Action.WATCH
    type: Literal["class_consent"]
    allowed: StrictBool


class ShowPlace(PlaceFields, Command):
    """An observed member's new position; refused without consent."""

    frequent = True
    needs = Action.WATCH
    type: Literal["class_here"]


class ClassWatched(ServerMessage):
    """To the pages of one member: does the instructor observe them? Latest wins."""

    latest_by = ()
    lasting = True
    type: Literal["class_watched"] = "class_watched"
    class_id: str
    phase: WatchPhase
    allowed: bool | None = Field(description="what the member said in this class; null: nothing")


class ClassWatching(ServerMessage):
    """To the page of the instructor that asked; latest wins."""

    latest_by = ()
    lasting = True
    type: Literal["class_watching"] = "class_watching"
    class_id: str
    member: str = Field(description="empty: nobody is watched")
    name: str
    phase: Literal["none", "asking", "watched", "refused", "away"] = Field(
        description="refused: the member does not want it, or not any more; away: it has no page"
    )


class ClassSeen(PlaceFields, ServerMessage):
    """The observed member's position, to the page that observes; latest wins."""

    latest_by = ()
    lasting = True
    type: Literal["class_seen"] = "class_seen"
    class_id: str
    member: str
    number: int = Field(description="rises with each place")
    age_s: float = Field(default=0.0, ge=0)
    sent_ns: float = Field(default=0.0, description="Unix time in ns when the server sent it")
