# SPDX-License-Identifier: GPL-2.0-or-later
"""Schemas of a lesson's files, with one module per file and one for the whole lesson.

A lesson is data. Arms, probes, spans, knobs, scenes and claims are declared here and checked
strictly: an unknown key is an error with a suggestion (lessons/document.py).
"""

from duet.lessons.schema.base import Name, Place, Strict
from duet.lessons.schema.challenges import Challenge, ChallengesFile, Goal, Stress
from duet.lessons.schema.lesson import Arm, KnobRole, LessonFile, Param
from duet.lessons.schema.published import Claim, EvidenceFile, Mail, PublishedFigure, Reference
from duet.lessons.schema.story import (
    Explanation,
    MustShow,
    OnCount,
    Prediction,
    Question,
    QuizQuestion,
    RecapFile,
    Remark,
    Scene,
    Sought,
    Source,
    StoryFile,
    Term,
    TermsFile,
    Trial,
)
from duet.lessons.schema.trace import (
    ACCESS,
    Axis,
    Beat,
    Counter,
    Kind,
    Link,
    Lit,
    MicroscopeConfig,
    Phase,
    Point,
    Probe,
    Span,
    TraceFile,
    Track,
    XrayConfig,
)
from duet.lessons.schema.whole import FILES, Lesson
from duet.lessons.schema.workload import NO_ROWS, Act, Metric, Operation, Workload

__all__ = [
    "ACCESS",
    "FILES",
    "NO_ROWS",
    "Act",
    "Arm",
    "Axis",
    "Beat",
    "Challenge",
    "ChallengesFile",
    "Claim",
    "Counter",
    "EvidenceFile",
    "Explanation",
    "Goal",
    "Kind",
    "KnobRole",
    "Lesson",
    "LessonFile",
    "Link",
    "Lit",
    "Mail",
    "Metric",
    "MicroscopeConfig",
    "MustShow",
    "Name",
    "OnCount",
    "Operation",
    "Param",
    "Phase",
    "Place",
    "Point",
    "Prediction",
    "Probe",
    "PublishedFigure",
    "Question",
    "QuizQuestion",
    "RecapFile",
    "Reference",
    "Remark",
    "Scene",
    "Sought",
    "Source",
    "Span",
    "StoryFile",
    "Stress",
    "Strict",
    "Term",
    "TermsFile",
    "TraceFile",
    "Track",
    "Trial",
    "Workload",
    "XrayConfig",
]
