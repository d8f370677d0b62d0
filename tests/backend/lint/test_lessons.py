# SPDX-License-Identifier: GPL-2.0-or-later
"""Each planted fault gives exactly its sentence, at its line."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.planted import SLUG, line_of, plant, problems


def test_the_lesson_itself_has_no_problem(copy: Path) -> None:
    assert copy.is_dir()
    assert problems() == []


@dataclass(frozen=True)
class Fault:
    """A fault that is planted in a YAML file, and what is said of it."""

    old: str
    new: str
    sentence: str
    at: str = ""
    """Text of the line that is named; default: the last line of `new`."""

    @property
    def line(self) -> str:
        return self.at or self.new.strip().splitlines()[-1]


FAULTS = {
    "view": Fault(
        "view: hog-rows", "view: hogrows", "there is no view 'hogrows' (did you mean 'hog-rows'?)"
    ),
    "sentence": Fault(
        "sentence: wakes",
        "sentence: wakse",
        "the view hog-rows has no sentence 'wakse' (did you mean 'wakes'?)",
    ),
    "moment": Fault(
        "moment: longest_wait",
        "moment: longest",
        "the view hog-rows finds no moment 'longest' (did you mean 'longest_wait'?)",
    ),
    "show": Fault(
        "show: [knobs, patch, tracks, links, ticks], sentence: wakes",
        "show: [knobs, path, tracks, links, ticks], sentence: wakes",
        "the view hog-rows cannot show 'path' (did you mean 'patch'?)",
    ),
    "toy": Fault(
        "toy: reader",
        "toy: raeder",
        "the view hog-rows has no toy 'raeder' (did you mean 'reader'?)",
    ),
    "answer": Fault(
        "    metric: ops_ratio\n",
        "    metric: ops_ration\n",
        "the view hog-rows has no answer 'ops_ration' (did you mean 'ops_ratio'?)",
    ),
    "knob of a model": Fault(
        "  vcpus:\n    {title: vCPUs",
        "  depth:\n    {title: depth, help: how deep, default: 1, applies: model}\n"
        "  vcpus:\n    {title: vCPUs",
        "the model of the view hog-rows has no number 'depth'",
        "  depth:",
    ),
    "hidden spans": Fault(
        "focus: [running, wait_srcu, srcu_call, gp_check",
        "focus: [running, wait_srcu, gp_check",
        "no step shows 'srcu_call': the view hog-rows draws a function only in steps that focus "
        "on it",
        at="{name: srcu_call, title: inside",
    ),
    "a kind that is not drawn": Fault(
        'title: "check: looks for readers", colour: mechanism, layer: track',
        'title: "check: looks for readers", colour: mechanism, layer: mark',
        "the view hog-rows does not draw the kind 'gp_check' in the layer mark",
        at="focus: [running, wait_srcu, srcu_call, gp_check",
    ),
    "a knob in a command": Fault(
        "run: storm --hogs {hogs} --seconds {seconds}",
        "run: storm --hogs {hogz} --seconds {seconds}",
        "nothing replaces {hogz} here; no knob of a run is called 'hogz' (did you mean 'hogs'?)",
    ),
    "braces in a command": Fault(
        "run: storm --hogs {hogs} --seconds {seconds}",
        "run: storm --hogs {hogs --seconds",
        "the braces do not match: expected '}' before end of string",
    ),
    "a knob of an option": Fault(
        'optional: {reclaim_ms: "--reclaim-ms {reclaim_ms}"}',
        'optional: {reclaim_ms: "--reclaim-ms {reclaim}"}',
        "nothing replaces {reclaim} here; no knob of a run is called 'reclaim' "
        "(did you mean 'reclaim_ms'?)",
    ),
    "braces in a filter": Fault(
        "filter: 'gpevent == \"start\" || gpevent == \"end\"'",
        "filter: 'gpevent == \"{state}\"'",
        "'{state}' is not replaced here",
    ),
    "a program": Fault(
        "run: storm --hogs",
        "run: strom --hogs",
        "no guest has a program 'strom' (did you mean 'storm'?)",
    ),
    "an event and its definition": Fault(
        'event: duet/sys_mount, define: "p:duet/sys_mount',
        'event: duet/sys_mount, define: "p:duet/sysmount',
        "it defines duet/sysmount, but the probe's event is duet/sys_mount",
    ),
    "a definition": Fault(
        'define: "p:duet/sys_mount __x64_sys_mount"',
        'define: "probe sys_mount"',
        "this is not a line of kprobe_events",
    ),
    "a pattern": Fault(
        r"ops_line: '^storm: .*\bumounts=(?P<ops>\d+)",
        r"ops_line: '^storm: .*\bumounts=(?P<op>\d+)",
        "the pattern has no group 'ops'",
    ),
    "an expression": Fault(
        r"rows: ^storm-(\d+)$", r"rows: ^storm-(\d+$",
        "this is not a regular expression: missing ), unterminated subpattern",
    ),
    "a patch file": Fault(
        "patches: [srcu.patch]",
        "patches: [scru.patch]",
        "the patch scru.patch does not exist",
    ),
    "one kernel": Fault(
        "patches: [srcu-expedited.patch]",
        "patches: [srcu.patch]",
        "the arms srcu and srcu-expedited are the same kernel: they have the same patches",
    ),
    "two CPUs on the count clock": Fault(
        "arm: srcu, to: rwsem, params: {hogs: 9}, clock: count",
        "arm: srcu, to: rwsem, params: {hogs: 9, vcpus: 2}, clock: count",
        "the count clock has one CPU, not 2",
    ),
    "lit": Fault(
        '"synchronize_srcu(&shrinker_srcu)"',
        '"synchronize_srcu(&other)"',
        "no line in the patches of srcu contains 'synchronize_srcu(&other)'",
    ),
    "questions": Fault(
        "  - {ask: Point at a check on the expedited kernel.",
        "  # {ask: Point at a check on the expedited kernel.",
        "a lesson with a view needs 5 questions, not 4",
        at="questions:",
    ),
    "bounds": Fault(
        "bounds: [0.5, 0.9]",
        "bounds: [0.9, 0.5]",
        "the bounds are not in rising order",
    ),
    "choices": Fault(
        "bounds: [0.5, 0.9]",
        "bounds: [0.5]",
        "3 choices need 2 bounds between them, not 1",
    ),
    "a prediction that nobody is asked for": Fault(
        "sentence: waits, predict: three-hogs,",
        "sentence: waits,",
        "no step asks for the prediction 'three-hogs'",
        at="  three-hogs:",
    ),
    "the template's title": Fault(
        "question: Why did umount become four times slower when a lock went away?",
        "question: Why is one of these two kernels faster?",
        "this is still the template's question",
        at="question: Why is one",
    ),
    "a published value": Fault(
        "caveats:\n",
        "references:\n  - {quantity: umounts, arm: srcu, params: {hogs: 9}, value: 3}\ncaveats:\n",
        "the view hog-rows has no chart for 'umounts'",
        at="quantity: umounts",
    ),
    "an x-ray probe": Fault(
        "\nprobes:",
        "\nxray: [{probe: srcu-gpp}]\nprobes:",
        "there is no x-ray probe 'srcu-gpp' (did you mean 'srcu-gp'?)",
        at="xray: [{probe: srcu-gpp}]",
    ),
    "an event that nobody defines": Fault(
        'event: duet/sys_mount, define: "p:duet/sys_mount __x64_sys_mount", filter',
        "event: duet/sys_mount, filter",
        "the event duet/sys_mount is not defined",
    ),
}  # fmt: skip
ALSO = {
    "lit": {"no line in the patches of srcu-hz1000 contains 'synchronize_srcu(&other)'"},
    "a kind that is not drawn": {
        "the view hog-rows does not draw the kind 'gp_check' in the layer mark",
        "the kind 'gp_check' is drawn by the view from points and has no spans",
    },
    "one kernel": {
        "no arm uses the patch srcu-expedited.patch",
        "no line in the patches of srcu-expedited contains "
        "'synchronize_srcu_expedited(&shrinker_srcu)'",
    },
}
"""What else follows from a fault."""


def test_a_probe_of_the_lesson_that_is_no_python_has_its_line(copy: Path) -> None:
    path = copy / "lessons" / SLUG / "probes" / "srcu_gp.py"
    path.write_text("x = 1\nclass Probe\n")
    (found,) = problems()
    assert found.sentence.startswith("this is not valid Python: ")
    assert (found.file, found.line) == (path.relative_to(copy).as_posix(), 2)


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_gives_its_sentence(copy: Path, name: str) -> None:
    fault = FAULTS[name]
    plant(copy, fault.old, fault.new)
    (first, *others) = problems()
    assert first.sentence == fault.sentence
    assert fault.line in line_of(copy, first)
    assert {one.sentence for one in others} == ALSO.get(name, set())
    assert all(one.remedy.endswith(".") for one in (first, *others))


@dataclass(frozen=True)
class Beside:
    """A fault in another file than the YAML ones."""

    file: str
    text: str
    sentence: str
    line: int


BESIDE = {
    "a program that does not compile": Beside(
        f"lessons/{SLUG}/workload/broken.c",
        "int main(void)\n{\n\treturn nothing;\n}\n",
        "broken.c does not compile: ‘nothing’ undeclared (first use in this function)",
        3,
    ),
    "a program with a warning": Beside(
        f"lessons/{SLUG}/workload/loose.c",
        "int main(void)\n{\n\tint left;\n\treturn 0;\n}\n",
        "loose.c does not compile: unused variable ‘left’ [-Werror=unused-variable]",
        3,
    ),
    "a script": Beside(
        f"lessons/{SLUG}/workload/loop.sh",
        "#!/bin/sh\nwhile true; do\n",
        "loop.sh is not a shell script: ",
        3,
    ),
    "a patch that no arm uses": Beside(
        f"kernel-patches/{SLUG}/stray.patch",
        "From 0\nSubject: x\n\ndiff --git a/x b/x\n",
        "no arm uses the patch stray.patch",
        1,
    ),
}


@pytest.mark.parametrize("name", BESIDE)
def test_a_fault_in_another_file_is_named_with_its_line(copy: Path, name: str) -> None:
    fault = BESIDE[name]
    path = copy / fault.file
    path.write_text(fault.text)
    (found,) = problems()
    plain = found.sentence.translate({ord("'"): "‘"}).replace("‘", "'").replace("’", "'")
    assert plain.startswith(fault.sentence.replace("‘", "'").replace("’", "'"))
    assert (found.file, found.line) == (fault.file, fault.line)


def test_text_without_a_step_and_a_step_without_text(copy: Path) -> None:
    path = copy / "lessons" / SLUG / "content.md"
    path.write_text(path.read_text().replace("## the-reader", "## the-writer"))
    lines = path.read_text().splitlines()
    assert [(p.sentence, p.line) for p in problems()] == [
        ("there is no text for the step 'the-reader'", 1),
        ("there is no step 'the-writer'", lines.index("## the-writer") + 1),
    ]


def test_every_problem_of_a_broken_file_is_named(copy: Path) -> None:
    plant(copy, "\nsummary: ", "\nsumary: ")
    plant(copy, "sentence: one_op,", "sentence: one_op, sentense: x,")
    assert sorted({p.key for p in problems()}) == [
        "scenes[0].sentense", "sumary", "summary",
    ]  # fmt: skip
