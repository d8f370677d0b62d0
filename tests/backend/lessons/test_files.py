# SPDX-License-Identifier: GPL-2.0-or-later
"""A lesson's files: what is wrong is named by file, line and key, with a remedy."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from pydantic import BaseModel

from duet.lessons import author as editor
from duet.lessons.document import LessonError, Problem, read
from duet.lessons.load import folder_stamp, paths, read_lesson
from duet.lessons.schema import FILES
from duet.lessons.schema.whole import GENERAL_VIEW
from duet.lessons.view import read_views

SLUG = "02-grace-periods"


@pytest.fixture
def folder(root: Path, tmp_path: Path) -> Path:
    copy = tmp_path / "lessons" / SLUG
    copy.mkdir(parents=True)
    for name in FILES:
        shutil.copy(root / "lessons" / SLUG / name, copy)
    return copy


def wrong(folder: Path) -> tuple[Problem, ...]:
    with pytest.raises(LessonError) as caught:
        read_lesson(folder)
    assert caught.value.sentence.startswith(str(caught.value.problems[0]))
    assert all(problem.remedy.endswith(".") for problem in caught.value.problems)
    return caught.value.problems


PLANTED = [
    # file, text there, text in its place, key, sentence, remedy
    ("trace.yaml", "kind: reader, open: shrink,", "kind: reader, open: shrnk,",
     "spans[9].open", "no probe is called 'shrnk'; known: switch, waking, sys_mount,",
     "Write 'shrink'"),
    ("trace.yaml", "name: wake, title: wakes a hog", "name: wake, titel: wakes a hog",
     "links[0].titel", "there is no such key (did you mean 'title'?)",
     "Keys here: name, title, event"),
    ("trace.yaml", "during: cb_wake", "during: cb_woke", "links[0].during",
     "no kind is called 'cb_woke'", "`kinds:` in trace.yaml"),
    ("trace.yaml", "{name: sys_mount,", "{name: waking,", "probes[2].name",
     "there is already a probe 'waking', at probes[1]", "another name"),
    ("trace.yaml", "opens: gp_check, after: gp_recheck", "opens: gp_check, after: gp_rechek",
     "tracks[0].phases[2].after", "no kind is called 'gp_rechek'", "Write 'gp_recheck'"),
    ("story.yaml", "hero: ticks", "hero: tick", "hero",
     "no scene is called 'tick'", "Write 'ticks'"),
    ("story.yaml", "{hogs: 9, reclaim_ms: 50}", "{hog: 9, reclaim_ms: 50}",
     "scenes[6].on_count.params.hog", "no param is called 'hog'", "`params:` in lesson.yaml"),
    ("story.yaml", "moment: reader, focus: [reader", "moment: reader, focus: [readers",
     "scenes[6].focus[0]", "no kind is called 'readers'", "Write 'reader'"),
    ("story.yaml", "bounds: [0.2, 0.5]", "bounds: [low, 0.5]", "predictions.expedited.bounds[0]",
     "input should be a valid number", "in rising order"),
    ("evidence.yaml", "caveats:", "caveat:", "caveat",
     "there is no such key (did you mean 'caveats'?)", "published"),
    ("evidence.yaml", "arm: srcu-delayed-sleeping, to: rwsem, workload",
     "arm: srcu-dellayed-sleeping, to: rwsem, workload",
     "published[8].arm", "no arm is called 'srcu-dellayed-sleeping'", "`arms:` in lesson.yaml"),
    ("evidence.yaml", "mail_ratio: 0.112", "mail_ratio: -1", "published[9].mail_ratio",
     "input should be greater than 0, not -1", "arm over `to`"),
    ("evidence.yaml", "link: robot", "link: robots", "published[9].link",
     "no mail is called 'robots'", "Write 'robot'"),
    ("lesson.yaml", "close: cleanup_ret", "close: cleanup", "operation.close",
     "no probe is called 'cleanup'", "`probes:` in trace.yaml"),
    ("lesson.yaml", r"(?P<value>[\d.]+)'" + "\n    workloads: [storm]",
     r"([\d.]+)'" + "\n    workloads: [storm]",
     "metrics.ops_per_s.line", "the regex needs a group", "(?P<value>...)"),
    ("lesson.yaml", "role: cpus", "role: threads", "params.vcpus.role",
     "the knob 'hogs' already has the role 'threads'", "one of them"),
    ("lesson.yaml", "question: Why", "qestion: Why", "qestion",
     "there is no such key (did you mean 'question'?)", "Keys here"),
    ("lesson.yaml", "default: 3, min: 1, max: 60", "default: many, min: 1, max: 60",
     "params.seconds.default", "unable to parse string as an integer, not 'many'",
     "its value if unset"),
    ("lesson.yaml", "params:\n  hogs:\n", "params:\n  Hogs:\n", "params.Hogs",
     "string should match pattern", "knobs"),
    ("lesson.yaml", "    comm: storm*\n", "    comm: storm*\n    comm: s*\n", "",
     "the key 'comm' occurs twice", "Keep one of them."),
    ("lesson.yaml", "clock: wall", "clock: [wall", "", "this is not YAML: ", "quotes"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("file", "old", "new", "key", "sentence", "remedy"),
    PLANTED,
    ids=[f"{p[0]}-{p[3]}" for p in PLANTED],
)
def test_a_planted_error_is_named_by_file_line_and_key(
    folder: Path, file: str, old: str, new: str, key: str, sentence: str, remedy: str
) -> None:
    path = folder / file
    text = path.read_text()
    at = text.index(old)
    path.write_text(text[:at] + new + text[at + len(old) :])
    first = wrong(folder)[0]
    same = next(i for i in range(len(new) + 1) if old[i : i + 1] != new[i : i + 1])
    line = text[:at].count("\n") + new[: same + 1].count("\n") + 1
    if key or "twice" in sentence:
        assert (first.file, first.line, first.key) == (f"lessons/{SLUG}/{file}", line, key)
    assert sentence in first.sentence and remedy in first.remedy


def test_the_whole_sentence(folder: Path) -> None:
    path = folder / "trace.yaml"
    path.write_text(
        path.read_text().replace("open: lock, close: lock_ret", "open: lokc, close: x", 1)
    )
    line = next(n for n, text in enumerate(path.read_text().split("\n"), 1) if "lokc" in text)
    with pytest.raises(LessonError) as caught:
        read_lesson(folder)
    assert re.fullmatch(
        rf"lessons/{SLUG}/trace\.yaml:{line}: spans\[0\]\.open: no probe is called 'lokc'; "
        r"known: switch, .*, \.\.\.\. \(1 more: \./duet lint\)",
        caught.value.sentence,
    )
    assert caught.value.remedy == "Write 'lock', or declare 'lokc' under `probes:` in trace.yaml."
    assert "spans[0].close: no probe is called 'x'" in caught.value.detail


def test_all_problems_of_all_files_are_named_at_once(folder: Path) -> None:
    for name, old, new in (
        ("lesson.yaml", "open: sys_umount", "open: sys_unmount"),
        ("story.yaml", "hero: ticks", "hero: tick"),
        ("evidence.yaml", "metric: ops_per_s", "metric: ops"),
    ):
        (folder / name).write_text((folder / name).read_text().replace(old, new, 1))
    found = [(problem.file.rpartition("/")[2], problem.key) for problem in wrong(folder)]
    assert found == [
        ("lesson.yaml", "operation.open"),
        ("story.yaml", "hero"),
        ("evidence.yaml", "published[0].metric"),
    ]


def test_a_key_in_two_files_is_refused(folder: Path) -> None:
    text = (folder / "lesson.yaml").read_text()
    (folder / "lesson.yaml").write_text(text + "hero: ticks\n")
    misplaced, one = wrong(folder)
    assert misplaced.sentence == "this key belongs in story.yaml"
    assert one.file.endswith("story.yaml") and one.key == "hero"
    assert one.sentence == "this key is also in lesson.yaml"
    assert one.remedy == "Keep it in story.yaml."


def test_a_key_in_the_wrong_file_is_sent_home(folder: Path) -> None:
    with (folder / "evidence.yaml").open("a") as file:
        file.write("axis: {point: a, title: b, unit: c, plural: d}\n")
    problems = wrong(folder)
    assert (problems[0].key, problems[0].sentence) == ("axis", "this key belongs in trace.yaml")
    assert problems[1].key == "axis.point"


def test_a_missing_key_is_named_in_its_file(folder: Path) -> None:
    text = (folder / "lesson.yaml").read_text()
    (folder / "lesson.yaml").write_text(text.replace("clock: wall\n", ""))
    (one,) = wrong(folder)
    assert str(one) == f"lessons/{SLUG}/lesson.yaml:1: clock: this key is missing"


def test_files_whose_keys_have_defaults_may_be_absent(folder: Path) -> None:
    (folder / "evidence.yaml").unlink()
    assert read_lesson(folder).claims == ()
    (folder / "evidence.yaml").write_text("# nothing yet\n")
    assert read_lesson(folder).claims == ()


def test_a_story_without_a_view_is_drawn_by_the_general_one(folder: Path) -> None:
    path = folder / "lesson.yaml"
    path.write_text(path.read_text().replace("view: hog-rows\n", ""))
    assert read_lesson(folder).view == GENERAL_VIEW
    assert GENERAL_VIEW in read_views().views
    for name in ("story.yaml", "recap.yaml"):  # its questions name steps
        (folder / name).unlink()
    assert read_lesson(folder).view is None


@pytest.mark.parametrize(
    ("counter", "key", "sentence"),
    [
        ("point: woken", "point", "no point is called 'woken'; known: wake"),
        ("point: wake, field: cpu", "field", "the point 'wake' has no field 'cpu'; known: pid"),
        ("title: both", "", "a counter needs either `point:` or `xray:`"),
        ("xray: maps", "", "a counter of the x-ray has no field"),
        ("point: wake, sum: true", "sum", "a sum needs a point and one of its fields"),
    ],
)
def test_a_counter_that_cannot_be_read_is_refused(
    folder: Path, counter: str, key: str, sentence: str
) -> None:
    one = counter if "title" in counter else f"title: wakes, {counter}"
    path = folder / "trace.yaml"
    wake = "  - {name: wake, probe: waking, title: a wake, fields: [pid]}\n"
    text = path.read_text().replace("\npoints:\n", f"\npoints:\n{wake}")
    path.write_text(f"{text}counters:\n  - {{name: wakes, {one}}}\n")
    first = wrong(folder)[0]
    assert first.key == f"counters[0]{'.' if key else ''}{key}"
    assert sentence in first.sentence


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"- a\n- b\n", ":1: the file has no keys at its top level"),
        (b"caveats:\n  - caf\xe9\n", ":2: this is not UTF-8 text"),
        (b"caveats: &a [*a]\n", ":1: caveats"),
    ],
)
def test_what_is_no_table_of_keys_is_refused(folder: Path, content: bytes, sentence: str) -> None:
    (folder / "evidence.yaml").write_bytes(content)
    assert sentence in str(wrong(folder)[0])


def test_another_stamp_after_a_change_of_any_file(folder: Path) -> None:
    for name in FILES:
        before = folder_stamp(folder)
        with (folder / name).open("a") as file:
            file.write("# more\n")
        assert folder_stamp(folder) != before


def test_a_value_has_the_line_where_it_stands(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("a: &one\n  b: 1\n  c:\n    - x\n    - {d: 2}\nlater: *one\n")
    document = read(path, "x.yaml")
    assert [document.line(p) for p in (("a",), ("a", "b"), ("a", "c", 1, "d"))] == [1, 2, 5]
    assert document.line(("later", "b")) == 2  # where the alias was defined
    assert document.line(("a", "gone", 3)) == 1
    assert document.says(("a", "c", 0)) and not document.says(("a", "c", 2))


def models(model: type[BaseModel]) -> dict[str, dict[str, object]]:
    tree = model.model_json_schema()
    return {model.__name__: tree, **tree.get("$defs", {})}


@pytest.mark.parametrize("file", FILES)
def test_every_key_is_described(file: str) -> None:
    for name, tree in models(FILES[file]).items():
        assert tree.get("description"), name
        properties = tree["properties"]
        assert isinstance(properties, dict)
        assert [
            f"{name}.{key}" for key, one in properties.items() if not one.get("description")
        ] == []


def test_every_file_names_its_schema_and_the_schema_knows_its_keys(root: Path) -> None:
    for folder in (root / "lessons").glob("*/lesson.yaml"):
        for path in paths(folder.parent):
            place = re.search(r"^# yaml-language-server: \$schema=(\S+)$", path.read_text(), re.M)
            assert place, path
            schema = json.loads((path.parent / place[1]).read_text())
            assert set(read(path, path.name).values) <= set(schema["properties"]), path


def test_a_schema_that_is_not_what_the_models_say_is_found(root: Path, tmp_path: Path) -> None:
    assert editor.stale(root) == []
    assert editor.stale(tmp_path) == [f"{name.removesuffix('.yaml')}.schema.json" for name in FILES]
    editor.write(tmp_path)
    assert editor.stale(tmp_path) == []
    place = tmp_path / "lessons/schema/trace.schema.json"
    place.write_text(place.read_text() + "\n")
    assert editor.stale(tmp_path) == ["trace.schema.json"]
