# SPDX-License-Identifier: GPL-2.0-or-later
"""Messages to and from the pages of a class."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StrictBool, StrictInt

from duet.base.access import Action
from duet.base.clock import Clock
from duet.messages.base import Command, Message, ServerMessage
from duet.messages.commands import Arms, Params

# Commands from a class's pages, sent by the instructor, the driver or members.

NAME_CHARS = 32
MOST_OPTIONS = 6
Word = Annotated[str, Field(max_length=64)]
Number = Annotated[float, Field(allow_inf_nan=False, ge=-1e18, le=1e18)]
Round = Annotated[StrictInt, Field(ge=1, le=2)]
Part = Annotated[float, Field(ge=0, le=1)]


class SpotFields(Message):
    """A pulsing mark or a highlighted lane on all screens.

    Args:
        arm: the lane.
        row: row of that lane; null means the whole lane.
        t_ns: the marked moment; null means no single moment.
    """

    arm: Word
    row: Annotated[StrictInt, Field(ge=0, le=1 << 20)] | None = None
    t_ns: Number | None = None


class MarkFields(Message):
    """Where a person pointed, in fractions of the picture's width and height, and what the picture
    shows at that point."""

    x: Part
    y: Part
    arm: Word = ""
    row: Annotated[StrictInt, Field(ge=0, le=1 << 20)] | None = None
    t_ns: Number | None = None


class Spotlight(SpotFields):
    """The driver's spotlight, as the driver's page sends it."""


class Mark(MarkFields):
    """A member's mark, as the member's page sends it."""


class PlaceFields(Message):
    """The driver's position in a lesson. It contains no data of a run.

    Args:
        lesson: slug of the open lesson.
        step: the open step of the lesson.
        place: the address that the page's `writePlace` returns ("?lesson=...&step=..."), with run,
            arms, knobs, clock, workload, window, alignment and panes. The server passes the address
            on unchanged. Pages parse the address like a link, and ignore invalid parts.
        moment_ns: frame time; null means the step's own moment.
        mode: what the playback does from this moment on.
        direction: 1 is forwards, -1 is backwards.
        speed: guest seconds per second; null means the step's own speed.
    """

    lesson: Annotated[str, Field(min_length=1, max_length=64)]
    step: Word = ""
    place: Annotated[str, Field(max_length=1024)] = ""
    moment_ns: Number | None = None
    mode: Literal["play", "paused", "scope"] = "paused"
    direction: Annotated[StrictInt, Field(ge=-1, le=1)] = 1
    speed: Annotated[float, Field(gt=0, le=1e6)] | None = None


class StartClass(Command):
    """Start a class on a lesson. This visitor becomes its instructor. The answer is
    `class_welcome`."""

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
    """Join with the class code, or return with the secret from `class_welcome`.

    Args:
        code: three words, separated by spaces or `-`.
        nickname: the student's choice; not needed with a known secret.
        secret: from an earlier `class_welcome` of this class. With an unknown secret, the page
            joins as a new member.
    """

    needs = Action.WATCH
    type: Literal["class_join"]
    code: Word
    nickname: Annotated[str, Field(max_length=NAME_CHARS)] = ""
    secret: Word = ""


class LeaveClass(Command):
    """This page leaves the class. Its member can return with the secret."""

    needs = Action.WATCH
    type: Literal["class_leave"]


class EndClass(Command):
    """The instructor ends the class. The answers are kept for the report."""

    needs = Action.TEACH
    type: Literal["class_end"]


class Drive(PlaceFields, Command):
    """The driver's new position. It is sent up to 10 times a second, and replaces the former
    position."""

    frequent = True
    needs = Action.WATCH
    type: Literal["class_drive"]
    spotlight: Spotlight | None = None


class Follow(Command):
    """A member follows the driver or explores a step. The page sends this after a change or
    activity.

    Args:
        step: the step that the member sees.
    """

    needs = Action.WATCH
    type: Literal["class_follow"]
    following: StrictBool
    step: Word = ""


class HandWheel(Command):
    """The instructor makes a member the driver, or becomes the driver again.

    Args:
        member: id from the roster; empty if the instructor drives.
    """

    needs = Action.TEACH
    type: Literal["class_hand"]
    member: Word = ""


class AskClass(Command):
    """The instructor asks the class a question, or opens the question's second round.

    Args:
        step: step that has the lesson's prediction; empty for a free poll.
        question: the page's id of the prediction, or an earlier poll's id; empty for a new poll.
        round: 2 opens the second vote in think-pair-share.
        text: question text of a new poll.
        options: 2 to 6 options of a new poll, or the labels of a prediction's choices if it has
            any.
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
    """A member's answer: a choice, a value or a mark. A later answer in the round replaces it.

    Args:
        step: step of the prediction; empty for a free poll.
        question: id of the prediction or poll.
        choice: number of the option, from 0.
        value: the answer to a question about a number.
        right: the page's judgement if the prediction has a right answer; shown only in reports.
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
    """The instructor shows everyone the answers. Later answers are refused."""

    needs = Action.TEACH
    type: Literal["class_reveal"]
    step: Word = ""
    question: Annotated[str, Field(min_length=1, max_length=64)]


class Confused(Command):
    """A member says that they are lost at this moment. The server counts it without a name."""

    needs = Action.WATCH
    type: Literal["class_confused"]


class ForgetMe(Command):
    """Delete what this class stores about this member, such as the nickname and all answers."""

    needs = Action.WATCH
    type: Literal["class_forget"]


ClassPart = Literal["instructor", "member"]


class Spot(SpotFields):
    """The driver's spotlight, as the server sends it."""


class Pointed(MarkFields):
    """Where a person pointed, as the server sends it."""


class ClassWelcome(ServerMessage):
    """This page is now in the class. The messages `class`, `class_place` and all `class_question`
    follow."""

    lasting = True
    type: Literal["class_welcome"] = "class_welcome"
    class_id: str
    part: ClassPart
    member: str = Field(description="id of the member; empty: the instructor")
    name: str = Field(description="as the class sees it, with a suffix if it was taken")
    secret: str = Field(
        description="the secret with which the member can return; the page stores it. Empty: "
        "the instructor"
    )


class ClassState(ServerMessage):
    """The state of a class, sent to each of its pages. A newer message replaces an older one."""

    latest_by = ()
    lasting = True
    type: Literal["class"] = "class"
    class_id: str
    title: str
    lesson: str
    code: str = Field(description="three words with - between")
    link: str = Field(description="relative to the page's folder: ?class=CODE")
    open: bool = Field(description="false: the class has ended, or this page has left it")
    part: ClassPart
    driving: bool = Field(description="this page may send class_drive")
    driver: str = Field(description="name of the member who drives; empty: the instructor drives")
    driver_member: str = Field(description="its id; empty: the instructor")
    members: int
    connected: int


class ClassPlace(PlaceFields, ServerMessage):
    """The driver's position. A newer message replaces an older one. New and reconnecting pages
    receive it immediately."""

    latest_by = ()
    lasting = True
    type: Literal["class_place"] = "class_place"
    spotlight: Spot | None = None
    class_id: str
    number: int = Field(description="rises with each position, also across a server restart")
    age_s: float = Field(
        default=0.0,
        ge=0,
        description="seconds since the driver sent it; a page that plays adds them",
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
    """All members of a class, sent to the instructor at most once a second. A newer message
    replaces an older one."""

    latest_by = ()
    lasting = True
    type: Literal["class_roster"] = "class_roster"
    class_id: str
    members: list[RosterMember]


class ClassQuestion(ServerMessage):
    """A question to the class, sent to everyone. A newer message with the same step and question
    replaces an older one."""

    latest_by = ("step", "question")
    lasting = True
    type: Literal["class_question"] = "class_question"
    class_id: str
    step: str = Field(description="empty: a free poll")
    question: str
    text: str
    options: list[str]
    round: Round = Field(description="the round that is open, or the last one")
    revealed: bool


class Bar(Message):
    """Number of members who gave a certain answer."""

    choice: int | None = Field(description="number of the option; null: this is a value")
    value: float | None
    count: int


class TallyRound(Message):
    """The answers of one round."""

    round: Round
    answers: int
    bars: list[Bar]
    marks: list[Pointed] = Field(description="without names")
    right: int | None = Field(description="how many were right; null: nobody was judged")


class ClassTally(ServerMessage):
    """The answers to a question so far. A newer message with the same step and question replaces an
    older one.

    The instructor receives the tally live, at most 4 times a second. All other members receive it
    only after the answers are revealed.
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
    """Confirms to a member that an answer is stored on disk.

    When the member returns, the message is sent again for each answer.
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
    """Number of members who said in one ten-second interval that they were lost."""

    at_s: int = Field(description="seconds since the class began, a multiple of 10")
    count: int
    step: str = Field(description="where the driver was")


class ClassConfusion(ServerMessage):
    """The number of lost members over time, sent to the instructor. A newer message replaces an
    older one."""

    latest_by = ()
    lasting = True
    type: Literal["class_confusion"] = "class_confusion"
    class_id: str
    points: list[Confusion]


# Commands and messages about members' questions, the votes for them, and the timer.


RAISED_CHARS = 280
TIMER_S = 3600
RaisedNumber = Annotated[StrictInt, Field(ge=1, le=1 << 20)]


class RaiseQuestion(Command):
    """A member asks the instructor a question, without a name. `class_own` confirms it.

    Args:
        text: plain text.
        step: the step that the member sees.
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
        answered: whether the question has been answered.
        hidden: whether the question is hidden from members and reports.
    """

    needs = Action.TEACH
    type: Literal["class_settle"]
    number: RaisedNumber
    answered: StrictBool
    hidden: StrictBool


class ShowRaised(Command):
    """The instructor shows the members' questions to all members, or hides the questions."""

    needs = Action.TEACH
    type: Literal["class_show_raised"]
    shown: StrictBool


class CountDown(Command):
    """The instructor starts the timer, extends it, or stops it.

    Args:
        act: what to do; `start` also resets a running timer.
        seconds: time from now for `start`, or time to add for `extend`.
    """

    needs = Action.TEACH
    type: Literal["class_count_down"]
    act: Literal["start", "extend", "stop"]
    seconds: Annotated[StrictInt, Field(ge=1, le=TIMER_S)] = 60


class RemoveMember(Command):
    """The instructor removes a member and deletes what the class stores about them.

    Args:
        member: id from the roster.
    """

    needs = Action.TEACH
    type: Literal["class_remove"]
    member: Annotated[str, Field(min_length=1, max_length=64)]


class Raised(Message):
    """A member's question, without its author."""

    number: int
    step: str = Field(description="on which it was asked")
    text: str
    votes: int
    answered: bool
    hidden: bool = Field(description="only the instructor and the member who asked it get it")


class ClassRaised(ServerMessage):
    """Members' questions, sorted by votes. A newer message replaces an older one.

    The instructor receives all questions. Once questions are shown, members receive all questions
    that are not hidden.
    """

    latest_by = ()
    lasting = True
    type: Literal["class_raised"] = "class_raised"
    class_id: str
    shown: bool = Field(description="to all members")
    questions: list[Raised]


class ClassOwn(ServerMessage):
    """A member's own stored questions and votes, sent to that member's pages."""

    latest_by = ()
    lasting = True
    type: Literal["class_own"] = "class_own"
    class_id: str
    asked: list[Raised]
    voted: list[int] = Field(description="numbers of questions")


class ClassTimer(ServerMessage):
    """The timer on all screens. Each page counts down with its own clock. A newer message replaces
    an older one."""

    latest_by = ()
    lasting = True
    type: Literal["class_timer"] = "class_timer"
    class_id: str
    length_s: float = Field(
        description="seconds for which it was set, plus any extension; 0: no timer is set"
    )
    ends_ns: float | None = Field(description="Unix time in ns; null: there is no timer")
    sent_ns: float = Field(description="Unix time in ns when the server sent this")


# Commands about tries that pages send, and messages about tries that pages receive.

Better = Literal["higher", "lower", "neither"]


class OpenStep(Command):
    """The instructor opens a step, so that the class may try runs there, or closes the step.

    Args:
        knobs: whether members may turn knobs in that step.
        patches: whether members may also change patches, if the server builds changes.
    """

    needs = Action.TEACH
    type: Literal["class_open_step"]
    lesson: Annotated[str, Field(min_length=1, max_length=64)]
    step: Annotated[str, Field(min_length=1, max_length=64)]
    knobs: StrictBool
    patches: StrictBool = False


class ShowGallery(Command):
    """The instructor shows all members the class's tries, or hides the tries."""

    needs = Action.TEACH
    type: Literal["class_show_gallery"]
    shown: StrictBool


class TryRun(Command):
    """A member tries a run in a step that is open for tries. The other fields are those of `start`.

    The try is queued after this member's other tries and replaces none of them. If the class
    already has an identical try, both tries share one run, and this member is added to its makers.
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
    """A member withdraws a waiting try. The try still runs if another member wants it."""

    needs = Action.RUN
    type: Literal["class_take_back"]
    number: Annotated[StrictInt, Field(ge=1, le=1 << 20)]


class OpenedStep(Message):
    """A step that is open for tries."""

    lesson: str
    step: str
    patches: bool


class ClassOpened(ServerMessage):
    """The steps in which the class may try runs, sent to each page of the class. A newer message
    replaces an older one."""

    lasting = True
    type: Literal["class_opened"] = "class_opened"
    class_id: str
    steps: list[OpenedStep]
    gallery: bool = Field(description="members see everyone's tries, not only their own")
    no_runs: str = Field(description="why nobody can try here, a sentence; empty: they can")
    no_patches: str = Field(description="why no patch can be changed here; empty: it can")


class Maker(Message):
    """A member who requested a run."""

    member: str
    name: str


class TryLane(Message):
    """The number that one lane shows."""

    arm: str
    title: str
    value: float


class TryResult(Message):
    """The number that a traced run shows. It is an illustration, not a measurement."""

    title: str
    unit: str
    better: Better
    lanes: list[TryLane] = Field(
        description="at most two lanes: the compared lane and the one it is compared with"
    )
    ratio: float | None = Field(
        description="second value divided by the first; null: there are not two values"
    )


class ClassTry(Message):
    """A run that members requested."""

    number: int
    lesson: str
    step: str
    makers: list[Maker] = Field(description="the first maker comes first")
    arms: list[str]
    params: dict[str, int]
    turned: dict[str, int] = Field(description="knobs whose values differ from the step's")
    workload: str
    clock: Clock
    summary: str = Field(description="the changed patch in one line; empty: no patch was changed")
    run: str = Field(description="id of the run, live and saved")
    state: Literal["waiting", "running", "done", "failed"]
    place: int | None = Field(
        description="place in the queue; null: it waits for its maker's other tries"
    )
    estimate_s: float | None = Field(description="until it starts, when this was sent")
    sentence: str = Field(description="why it failed, or some of its lanes")
    result: TryResult | None


class ClassTries(ServerMessage):
    """The tries that this page may see, sent at most twice a second. A newer message replaces an
    older one."""

    lasting = True
    type: Literal["class_tries"] = "class_tries"
    class_id: str
    tries: list[ClassTry]


# Commands and messages for an instructor who observes a member with the member's consent.


WatchPhase = Literal["none", "asking", "watched"]


class WatchMember(Command):
    """The instructor's page asks to observe a member.

    Args:
        member: id from the roster; empty to stop.
    """

    needs = Action.TEACH
    type: Literal["class_watch"]
    member: Word = ""


class Consent(Command):
    """A member gives or withdraws consent to be observed by the instructor in this class."""

    needs = Action.WATCH
    type: Literal["class_consent"]
    allowed: StrictBool


class ShowPlace(PlaceFields, Command):
    """An observed member's new position. Without the member's consent, the server refuses the
    position."""

    frequent = True
    needs = Action.WATCH
    type: Literal["class_here"]


class ClassWatched(ServerMessage):
    """Whether the instructor observes a member, sent to that member's pages. A newer message
    replaces an older one."""

    latest_by = ()
    lasting = True
    type: Literal["class_watched"] = "class_watched"
    class_id: str
    phase: WatchPhase
    allowed: bool | None = Field(description="what the member said in this class; null: nothing")


class ClassWatching(ServerMessage):
    """State of an observation, sent to the instructor's page that requested it. A newer message
    replaces an older one."""

    latest_by = ()
    lasting = True
    type: Literal["class_watching"] = "class_watching"
    class_id: str
    member: str = Field(description="empty: nobody is watched")
    name: str
    phase: Literal["none", "asking", "watched", "refused", "away"] = Field(
        description="refused: the member does not want it, or no longer wants it; away: the "
        "member has no page open"
    )


class ClassSeen(PlaceFields, ServerMessage):
    """The observed member's position, sent to the observing page. A newer message replaces an older
    one."""

    latest_by = ()
    lasting = True
    type: Literal["class_seen"] = "class_seen"
    class_id: str
    member: str
    number: int = Field(description="rises with each place")
    age_s: float = Field(default=0.0, ge=0)
    sent_ns: float = Field(default=0.0, description="Unix time in ns when the server sent it")
