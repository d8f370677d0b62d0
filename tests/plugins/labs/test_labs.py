# SPDX-License-Identifier: GPL-2.0-or-later
"""A lab over HTTP: tasks without answers, attempts, points, grades, export, deletion."""

from __future__ import annotations

import asyncio
import csv
import io
import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from duet import messages as m
from duet.base.settings import repo_root
from duet.plugins.labs import files
from duet.plugins.labs.grades import LabScore
from duet.plugins.labs.labs import Labs
from duet.server.archive import set_owner
from duet.server.director import Director
from tests.plugins.labs.served import call, lab_app
from tests.support.toy_server import SLUG, browser, serving

LAB = f"/api/labs/{SLUG}"
RECORDED = repo_root() / "lessons" / SLUG / "recorded"
RUN = "run-20260101-000000-abcdef"


def task_of(mine: Any, name: str) -> Any:
    return next(task for task in mine["tasks"] if task["task"] == name)


def send(address: str, who: str, task: str, answer: Any, name: str = "") -> tuple[int, Any]:
    return call(address, f"{LAB}/attempts", who, {"task": task, "answer": answer, "name": name})


def test_a_lab_shows_no_answer_before_it_is_due(tmp_path: Path) -> None:
    with serving(lab_app(tmp_path)) as address:
        assert {SLUG} <= {one["slug"] for one in call(address, "/api/labs", "ada")[1]}
        status, lab = call(address, LAB, "ada")
        nameless = send(address, "ada", "company", {"choice": 0})
        mine = call(address, f"{LAB}/mine", "ada")[1]
        wrong = send(address, "ada", "who-waits", {"value": 8}, "Ada")[1]
        right = send(address, "ada", "who-waits", {"value": 16})[1]
        again = send(address, "ada", "who-waits", {"value": 16})
        no_choice = send(address, "ada", "company", {"choice": 3})
        no_task = send(address, "ada", "componay", {"choice": 1})
        too_much = send(address, "ada", "not-the-cause", {"text": "x" * 801})
    assert status == 200 and "right" not in str(lab) and "Both kernels run it" not in str(lab)
    tasks = {task["name"]: task for task in lab["tasks"]}
    assert tasks["company"]["choices"][0] == "fewer than five"
    assert tasks["company"]["step"] == "three-hogs"
    assert tasks["the-look"]["ask"].startswith("Point at the moment")
    assert nameless[1]["error"]["code"] == "name" and mine["name"] is None
    task = task_of(wrong, "who-waits")
    assert (task["state"], task["points"], task["left"], task["right"]) == ("scored", 0.0, 1, None)
    task = task_of(right, "who-waits")
    assert (task["points"], task["right"], right["name"]) == (0.5, "16 ms", "Ada")
    assert "no attempt is left" in again[1]["error"]["sentence"]
    assert "3 choices" in no_choice[1]["error"]["sentence"]
    assert "did you mean 'company'" in no_task[1]["error"]["sentence"]
    assert "801 characters" in too_much[1]["error"]["sentence"]


def test_a_lab_comes_in_the_language_that_is_asked_for(tmp_path: Path) -> None:
    with serving(lab_app(tmp_path)) as address:
        english, german = call(address, LAB, "ada")[1], call(address, f"{LAB}?lang=de", "ada")[1]
        strange = [call(address, f"{LAB}?lang={one}", "ada")[1] for one in ("fr", "..%2F..", "de/")]
        sent = {"task": "not-the-cause", "answer": {"text": "No"}, "name": "Send"}
        call(address, f"{LAB}/attempts?lang=de", "ada", sent)
        sent = {"task": "company", "answer": {"choice": 0}}
        mine = call(address, f"{LAB}/attempts?lang=de", "ada", sent)[1]
        plain = call(address, f"{LAB}/mine", "ada")[1]
    assert german["title"] == "Praktikum: worauf umount wartet" and strange == [english] * 3
    tasks = {task["name"]: task for task in german["tasks"]}
    # Of the lab, of the lesson's prediction, and of its question.
    assert tasks["company"]["title"] == "Drei Hogs"
    assert tasks["company"]["choices"] != english["tasks"][0]["choices"]
    assert tasks["the-look"]["ask"].startswith("Zeigen Sie")
    assert task_of(mine, "company")["why"].startswith("Ein zweiter Hog fragt")
    assert task_of(mine, "company")["right"] in tasks["company"]["choices"]
    assert task_of(plain, "company")["why"].startswith("A second hog asks")
    # What somebody wrote stays as it is.
    assert (mine["name"], task_of(mine, "not-the-cause")["attempts"][0]["answer"]["text"]) == (
        "Send", "No",
    )  # fmt: skip


def test_a_person_grades_and_listeners_get_each_change(tmp_path: Path) -> None:
    heeded: list[LabScore] = []

    def listen(director: Director) -> None:
        director.services.of(Labs).listeners.append(heeded.append)

    with serving(lab_app(tmp_path, listen)) as address:
        sent = send(address, "ada", "not-the-cause", {"text": "Both have it."}, "=Ada")[1]
        record = call(address, f"{LAB}/answers", "teacher")[1]
        person = record["people"][0]["person"]
        grade = {"person": person, "attempt": 1, "points": 2, "comment": "and the lengths?"}
        too_many = call(address, f"{LAB}/grades", "teacher", grade | {"points": 3.5})
        scores = call(address, f"{LAB}/grades", "teacher", grade)[1]
        mine = task_of(call(address, f"{LAB}/mine", "ada")[1], "not-the-cause")
        table = call(address, f"{LAB}/scores.csv", "teacher")[1]
        call(address, f"{LAB}/regrade", "teacher", {})
    assert task_of(sent, "not-the-cause")["state"] == "ungraded"
    assert record["rubrics"]["not-the-cause"][0].endswith("(1)")
    assert record["people"][0]["broken"] == ""
    assert "0 to 3 points" in too_many[1]["error"]["sentence"]
    assert (scores["people"][0]["points"], scores["people"][0]["complete"]) == (2.0, False)
    assert (mine["points"], mine["attempts"][0]["comment"]) == (2.0, "and the lengths?")
    (row,) = csv.DictReader(io.StringIO(table))
    assert (row["name"], row["not-the-cause"], row["company"]) == ("'=Ada", "2", "open")
    assert [one.points for one in heeded] == [0.0, 2.0, 2.0]
    assert {one.person for one in heeded} == {person}


def test_a_run_counts_by_what_the_server_sees_of_it(tmp_path: Path) -> None:
    """A real recording, saved as this browser's run: on the wall clock first, then another's."""
    with serving(lab_app(tmp_path)) as address:
        key = call(address, "/api/people/me", "ada")[1]["person"]
        runs = tmp_path / "runs"
        runs.mkdir()
        shutil.copy(RECORDED / "1-hog.duet", runs / f"{RUN}.duet")
        run = {"run": f"kept:{SLUG}:{RUN}"}
        others = send(address, "ada", "alone", run, "Ada")
        set_owner(runs, RUN, key)
        done = send(address, "ada", "alone", run, "Ada")
        recording = send(address, "ada", "alone", {"run": f"recorded:{SLUG}:1-hog"})
        mark = {"arm": "srcu", "kind": "gp_check", "run": f"recorded:{SLUG}:9-hogs"}
        missed = send(address, "ada", "the-look", {"mark": mark | {"t0_ns": -9e9, "t1_ns": -8e9}})
        found = send(address, "ada", "the-look", {"mark": mark | {"t0_ns": 0, "t1_ns": 9e9}})
        attempts = call(address, "/api/people/me", "ada")[1]["attempts"]
    assert "not yours" in others[1]["error"]["sentence"]
    assert "not yours" in recording[1]["error"]["sentence"]
    alone = task_of(done[1], "alone")
    assert alone["points"] == 0.0
    assert "task needs the count clock" in alone["attempts"][0]["found"][0]
    assert alone["attempts"][0]["run"] == run["run"], "a grader can open it"
    seen = attempts[0]["found"]
    assert seen["params"]["hogs"] == 1 and seen["values"]["ops"]["rwsem"] > 1000
    assert 0.2 < seen["values"]["ops_per_s"]["srcu"] / seen["values"]["ops_per_s"]["rwsem"] < 0.8
    assert task_of(missed[1], "the-look")["points"] == 0.0
    assert task_of(found[1], "the-look")["points"] == 0.5, "the second attempt is worth half"


def test_a_verdict_is_the_judges_alone(tmp_path: Path) -> None:
    made: list[Director] = []
    verdict = m.Judged(
        **{"lesson": SLUG, "challenge": "one-word", "arm": "own-srcu-0123456789"},
        phase="done",
        met=True,
        because="It holds.",
    )
    arm = {"arm": verdict.arm}
    with serving(lab_app(tmp_path, made.append)) as address:
        unjudged = send(address, "ada", "one-word", arm | {"met": True}, "Ada")
        before = send(address, "ada", "one-word", arm, "Ada")
        made[0].services.judged(call(address, "/api/people/me", "ada")[1]["person"], verdict)
        another = send(address, "bo", "one-word", arm, "Bo")
        after = send(address, "ada", "one-word", arm, "Ada")
    assert "does not fit" in unjudged[1]["error"]["sentence"]
    for refused in (before, another):
        assert "has not judged" in refused[1]["error"]["sentence"]
    task = task_of(after[1], "one-word")
    assert (task["points"], task["attempts"][0]["found"]) == (4.0, ["It holds."])


def test_who_goes_leaves_nothing_and_a_changed_row_is_seen(tmp_path: Path) -> None:
    database = tmp_path / "classes.sqlite"
    with serving(lab_app(tmp_path)) as address:
        send(address, "ada", "who-waits", {"value": 8}, "Ada Lovelace")
        send(address, "bo", "who-waits", {"value": 8}, "Bo")
        with closing(sqlite3.connect(database, timeout=60)) as connection, connection:
            connection.execute("UPDATE lab_attempts SET answer = '{\"value\": 16.0}'")
        people = call(address, f"{LAB}/answers", "teacher")[1]["people"]
        call(address, "/api/people/me", "ada", method="DELETE")
        left = call(address, f"{LAB}/scores", "teacher")[1]["people"]
    assert [one["broken"] for one in people] == ["attempt 1 was changed after it was stored."] * 2
    assert [one["name"] for one in left] == ["Bo"]
    assert b"Lovelace" not in database.read_bytes()


def test_answers_of_many_at_once_each_keep_their_chain(tmp_path: Path, run_async: Any) -> None:
    async def both(address: str) -> list[int]:
        async with browser(address, "ada"):
            work = [
                asyncio.to_thread(send, address, "ada", "who-waits", {"value": n}, "Ada")
                for n in range(6)
            ]
            return [status for status, _ in await asyncio.gather(*work)]

    with serving(lab_app(tmp_path)) as address:
        statuses = run_async(both(address))
        (person,) = call(address, f"{LAB}/answers", "teacher")[1]["people"]
    assert sorted(statuses) == [200, 200, 404, 404, 404, 404], "two attempts"
    assert person["broken"] == "" and len(person["attempts"]) == 2


def test_a_later_lab_shows_points_when_it_is_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "course"
    (folder / "lessons").mkdir(parents=True)
    (folder / "labs/monday").mkdir(parents=True)
    monkeypatch.setenv("DUET_LESSONS", str(folder))

    def write(at_s: float) -> None:
        deadline = time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(at_s))
        (folder / "labs/monday" / files.FILE).write_text(
            f"title: Monday\nlesson: {SLUG}\nfeedback: later\ndeadline: {deadline}\ntasks:\n"
            "  one: {kind: predict, title: One, prediction: three-hogs}\n"
        )

    write(time.time() + 3600)
    body = {"task": "one", "answer": {"choice": 0}, "name": "Ada"}
    with serving(lab_app(tmp_path)) as address:
        before = call(address, "/api/labs/monday/attempts", "ada", body)[1]
        write(time.time() + 3600 * 24)
        still = call(address, "/api/labs/monday/mine", "ada")[1]
        write(time.time() + 1)
        time.sleep(2.2)
        after = call(address, "/api/labs/monday/mine", "ada")[1]
        late = call(address, "/api/labs/monday/attempts", "ada", body)
    for mine in (before, still):
        task = task_of(mine, "one")
        assert (task["state"], task["points"], task["right"]) == ("answered", None, None)
    task = task_of(after, "one")
    assert (task["state"], task["points"], task["right"]) == ("scored", 1.0, "fewer than five")
    assert "closed at" in late[1]["error"]["sentence"]
