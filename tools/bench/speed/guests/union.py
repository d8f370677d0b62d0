# SPDX-License-Identifier: GPL-2.0-or-later
"""A scratch lesson with the events of all five lessons, on one kernel.

This lesson is made from the current lessons. Its arm has the instrumentation of all lessons and the
SRCU patch of lesson 02. Its trace.yaml has their probes, kinds, spans, tracks, links and points.
Names get the lesson's number as a prefix, such as `l02-wait_srcu`. Events of our own probes get it
too, such as duet/l02_shrink, because two lessons probe shrink_slab(). Scheduler events occur only
once, for all tasks. What needs another kernel base, the x-ray or the microscope is left out.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from duet.base.settings import repo_root

Tree = dict[str, Any]
SLUG = "90-all-lessons"
ARM = "all"
PLAIN = "plain"
"""A second arm, because a lesson has two. It is optional, and the benchmark never builds it."""
WORKLOAD = "mix"
STOCK: Mapping[str, str] = {
    "01-shrinker-bitmaps": "after",
    "02-grace-periods": "srcu",
    "03-inode-recycling": "stock",
    "04-extent-shrinker": "stock",
    "05-cacheline-pingpong": "stock",
}
"""Lesson -> the arm whose probes and tracks are taken. Only lesson 02's arm has a patch."""
SRCU = "srcu.patch"
STATES: list[Tree] = [
    {"name": "running", "title": "running", "colour": "work", "layer": "state"},
    {
        **{"name": "runnable", "title": "runnable; another task has the CPU"},
        **{"colour": "idle", "layer": "state"},
    },
    {"name": "wait_other", "title": "sleeps", "colour": "other", "layer": "state"},
]
SCHEDULER: list[Tree] = [
    {"name": "switch", "event": "sched/sched_switch"},
    {"name": "waking", "event": "sched/sched_waking"},
]
COMMON = frozenset({"running", "runnable", "wait_other", "switch", "waking"})
"""Kinds and probes that all lessons have. They keep their names."""
MEMORY_MB = 2048
RETURNS = 64
"""Smallest number of calls that a return probe follows at once; with fewer, calls are missed."""


def write_union(folder: Path) -> Path:
    """Write the lesson and its patches below `folder`, in the layout of DUET_LESSONS.

    Returns:
        The lesson's folder.
    """
    lesson = folder / "lessons" / SLUG
    patches = folder / "kernel-patches" / SLUG
    for made in (lesson, patches):
        shutil.rmtree(made, ignore_errors=True)
    (lesson / "workload").mkdir(parents=True)
    (patches / "both").mkdir(parents=True)
    for path in both_patches():
        shutil.copyfile(path, patches / "both" / f"{path.parents[1].name[:2]}-{path.name}")
    shutil.copyfile(repo_root() / "kernel-patches/02-grace-periods" / SRCU, patches / SRCU)
    shutil.copyfile(Path(__file__).with_name("mix.sh"), lesson / "workload" / "mix.sh")
    for name, tree in (("lesson.yaml", lesson_tree()), ("trace.yaml", trace_tree())):
        (lesson / name).write_text(yaml.safe_dump(tree, sort_keys=False, width=100))
    return lesson


def both_patches() -> list[Path]:
    """Return the instrumentation of all lessons for the default base, in order."""
    top = repo_root() / "kernel-patches"
    return [path for slug in STOCK for path in sorted((top / slug / "both").glob("*.patch"))]


def lesson_tree() -> Tree:
    """Return the content of lesson.yaml."""
    role = {"applies": "boot", "role": "cpus"}
    return {
        "title": "All lessons",
        "question": "What do the events of all lessons cost?",
        "summary": "The events of all lessons on one kernel, for the benchmark.",
        "clock": "wall",
        "clocks": ["wall", "count"],
        "memory_mb": MEMORY_MB,
        "thread": "task",
        "metrics": {
            "rounds": {
                **{"title": "rounds", "unit": "rounds", "better": "neither"},
                "line": r"^mix: rounds=(?P<value>\d+)",
            }
        },
        "arms": [
            {
                **{"name": ARM, "title": "all", "role": "before", "patches": [SRCU]},
                "summary": "instrumentation of all lessons, and SRCU for shrinkers",
            },
            {
                **{"name": PLAIN, "title": "plain", "role": "after", "optional": True},
                "summary": "instrumentation of all lessons",
            },
        ],
        "params": {
            "rounds": {
                **{"title": "rounds", "help": "how often all programs run"},
                **{"default": 1, "min": 1, "max": 100},
            },
            "vcpus": {
                **{"title": "vCPUs", "help": "CPUs of the guest"},
                **{"default": 2, "min": 1, "max": 4, **role},
            },
            "seconds": {
                **{"title": "limit", "help": "time limit of the whole run", "role": "duration"},
                **{"default": 600, "min": 1, "max": 3000, "unit": "s"},
            },
        },
        "workloads": {
            WORKLOAD: {
                "title": "all programs",
                "summary": "the programs of all lessons, and some of stress-ng",
                "setup": ["duet-scratch xfs 512"],
                "writes": ["/sys/module/ext4/parameters/es_never_merge 1"],
                "scratch_mb": 512,
                "run": "mix {rounds}",
                "comm": "*",
                "rows": r"^(?!kworker|swapper|ksoftirqd|rcu_|migration|cpuhp|kthreadd|duet-agent)",
                "start_marker": "mix: start",
            }
        },
    }


def trace_tree() -> Tree:
    """Return the content of trace.yaml."""
    tree: Tree = {
        **{"kinds": list(STATES), "probes": list(SCHEDULER)},
        **{"spans": [], "tracks": [], "links": [], "points": []},
    }
    for slug, arm in STOCK.items():
        source = yaml.safe_load((repo_root() / "lessons" / slug / "trace.yaml").read_text())
        part = _Part(slug, arm, source)
        tree["kinds"] += part.kinds()
        tree["probes"] += part.probes()
        for key in ("spans", "tracks", "links", "points"):
            tree[key] += getattr(part, key)()
    return tree


class _Part:
    """One lesson's part of trace.yaml, with prefixed names."""

    def __init__(self, slug: str, arm: str, source: Tree) -> None:
        self._prefix, self._arm, self._source = f"l{slug[:2]}", arm, source
        self._names = {probe["name"] for probe in self._kept("probes")}

    def _kept(self, key: str) -> list[Tree]:
        """Return the items of a list that exist on the arm."""
        return [
            one for one in self._source.get(key, ()) if self._arm in one.get("arms", [self._arm])
        ]

    def _named(self, name: str) -> str:
        return name if name in COMMON else f"{self._prefix}-{name}"

    def _with(self, one: Tree, keys: Iterable[str]) -> Tree:
        """Return an item with prefixed names in `keys`, without `arms`."""
        left = {key: value for key, value in one.items() if key != "arms"}
        return left | {key: self._named(one[key]) for key in keys if one.get(key)}

    def kinds(self) -> list[Tree]:
        own = [kind for kind in self._kept("kinds") if kind["name"] not in COMMON]
        return [self._with(kind, ("name",)) for kind in own]

    def probes(self) -> list[Tree]:
        return [self._probe(one) for one in self._kept("probes") if one["name"] not in COMMON]

    def _probe(self, probe: Tree) -> Tree:
        made = {"name": self._named(probe["name"]), "event": self._event(probe["event"])}
        if define := probe.get("define"):
            # The programs of all lessons are more tasks than the programs of one lesson.
            define = re.sub(r"^r(?:[1-9]|[1-5]\d):", f"r{RETURNS}:", define)
            made["define"] = re.sub(
                r"duet/\w+", lambda found: self._event(found[0]), define, count=1
            )
        if chooser := probe.get("filter"):
            made["filter"] = chooser
        return made

    def _event(self, event: str) -> str:
        group, _, name = event.partition("/")
        return f"duet/{self._prefix}_{name}" if group == "duet" else event

    def spans(self) -> list[Tree]:
        keys = ("kind", "open", "close", "wait")
        known = [one for one in self._kept("spans") if {one["open"], one["close"]} <= self._names]
        return [self._with(one, keys) for one in known]

    def tracks(self) -> list[Tree]:
        made = []
        for track in self._kept("tracks"):
            phases = [self._with(one, ("event", "after", "opens")) for one in track["phases"]]
            made.append({**self._with(track, ("name",)), "phases": phases})
        return made

    def links(self) -> list[Tree]:
        return [self._with(one, ("name", "event", "during")) for one in self._kept("links")]

    def points(self) -> list[Tree]:
        known = [one for one in self._kept("points") if one.get("probe") in self._names]
        return [self._with(one, ("name", "probe")) for one in known]
