# SPDX-License-Identifier: GPL-2.0-or-later
"""Manifests as no writer writes them."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from typing import Any

from tests.corpus.hostile_case import STREAM, Case, Expect, Good, Tree, bundle, case, sums

PLAYS, REFUSED, EITHER = Expect.PLAYS, Expect.REFUSED, Expect.EITHER
ESC = "\x1b]0;owned\x07\x1b[2J"
BIDI = "\u202egnp.exe\u202c\u2066\u200b"
HOLE = '"@@"'
"""Where a text is put that json.dumps would not write."""


def cases(good: Good) -> Iterator[Case]:
    """All of them."""

    def tree(change: Callable[[Tree], object]) -> Tree:
        made = copy.deepcopy(good.tree)
        change(made)
        return made

    def one(
        name: str,
        expect: Expect,
        change: Callable[[Tree], object],
        replay: Expect | None = None,
        finding: str = "",
    ) -> Case:
        return case(
            f"manifest-{name}",
            expect,
            lambda: good.file(tree=tree(change)),
            replay=replay,
            finding=finding,
        )

    def text(
        name: str,
        expect: Expect,
        put: Callable[[str], str | bytes],
        change: Callable[[Tree], object] = lambda _: None,
    ) -> Case:
        def content() -> bytes:
            members = {STREAM: good.stream()}
            written = json.dumps({**tree(change), "sums": sums(members)})
            return bundle(put(written), members)

        return case(f"manifest-{name}", expect, content, finding="")

    yield from names(one)
    yield from knobs(one, text)
    yield from shapes(one, text)
    yield from figures(one, text)


def arm(tree: Tree) -> Tree:
    """The one lane."""
    found: Tree = tree["arms"][0]
    return found


def names(one: Callable[..., Case]) -> Iterator[Case]:
    """Texts that are printed."""
    yield one("title-escapes", REFUSED, lambda m: arm(m).update(title=f"{ESC}x"))
    yield one("title-bidi", EITHER, lambda m: arm(m).update(title=BIDI), finding="L1")
    yield one("host-bidi", EITHER, lambda m: m["host"].update(cpu=BIDI), finding="L1")
    yield one("title-surrogate", REFUSED, lambda m: arm(m).update(title="\ud800"))
    yield one("title-long", REFUSED, lambda m: arm(m).update(title="x" * 5000))
    yield one(
        "compiler-escapes",
        EITHER,
        finding="L1",
        change=lambda m: arm(m)["kernel"].update(compiler=f"gcc {ESC}", linker=ESC),
    )
    yield one(
        "patch-escapes",
        EITHER,
        finding="L1",
        change=lambda m: arm(m)["kernel"].update(
            patches=[{"path": f"both/{ESC}x", "sha256": "a" * 64}]
        ),
    )
    yield one(
        "left-out-bidi",
        EITHER,
        finding="L1",
        change=lambda m: m.update(left_out={"srcu": f"it failed {BIDI}"}),
    )
    yield one("lesson-climbs", REFUSED, lambda m: m.update(lesson="09-../../etc"))
    yield one("lesson-none", PLAYS, lambda m: m.update(lesson="99-not-there"), replay=REFUSED)
    yield one(
        "lesson-other", PLAYS, lambda m: m.update(lesson="01-shrinker-bitmaps"), replay=EITHER
    )
    yield one("workload-none", PLAYS, lambda m: m.update(workload="nothere"), replay=REFUSED)
    yield one("arm-none", REFUSED, lambda m: arm(m).update(name="nothere"))
    yield one("arm-twice", REFUSED, lambda m: m["arms"].append(dict(arm(m))))
    yield one("arms-none", REFUSED, lambda m: m.update(arms=[]))
    yield one("unknown", REFUSED, lambda m: m.update(extra=1))


def knobs(one: Callable[..., Case], text: Callable[..., Case]) -> Iterator[Case]:
    """Params, as a lesson never has them."""

    def to(value: Any) -> Callable[[Tree], object]:
        return lambda m: m["params"].update(hogs=value)

    def instead(value: str) -> Callable[[str], str]:
        return lambda t: t.replace(HOLE, value)

    yield one("hogs-2^63", EITHER, to(1 << 63))
    yield one("hogs-negative", EITHER, to(-(1 << 63)))
    yield one("hogs-2^40", EITHER, to(1 << 40))
    yield one("hogs-2^64", REFUSED, to(1 << 64))
    yield one("hogs-half", REFUSED, to(1.5))
    yield one("hogs-text", EITHER, to("1"))
    yield one("hogs-true", EITHER, to(True))
    yield one("hogs-nan", REFUSED, to(float("nan")))
    yield text("hogs-1e999", REFUSED, instead("1e999"), to("@@"))
    yield text("hogs-6000-digits", REFUSED, instead("9" * 6000), to("@@"))
    yield one("knob-odd", REFUSED, lambda m: m["params"].update({"../x": 1}))
    yield one("symbols-odd", EITHER, lambda m: arm(m)["symbols"].update({f"{ESC}": 1}))


def shapes(one: Callable[..., Case], text: Callable[..., Case]) -> Iterator[Case]:
    """What is no JSON, or of another format."""
    kernel = '"kernel": {'

    def deep(levels: int) -> Callable[[str], str]:
        nest = "[" * levels + "]" * levels
        return lambda t: t.replace(kernel, f'{kernel}"deep": {nest},', 1)

    yield text("deep-900", EITHER, deep(900))
    yield text("deep-200000", REFUSED, deep(200_000))
    yield text("keys-double", EITHER, lambda t: t.replace('"clock":', '"clock": "count", "clock":'))
    yield one("format-9", REFUSED, lambda m: m.update(format=9))
    yield one("format-0", REFUSED, lambda m: m.update(format=0))
    yield one("format-1.0", REFUSED, lambda m: m.update(format=1.0))
    yield one("format-true", EITHER, lambda m: m.update(format=True))
    yield text(
        "format-5000-digits", REFUSED, lambda t: t.replace('"format": 2', '"format": ' + "9" * 5000)
    )
    yield text("array", REFUSED, lambda _: "[]")
    yield text("empty", REFUSED, lambda _: "")
    yield text("null", REFUSED, lambda _: "null")
    yield text("utf16", EITHER, lambda t: t.encode("utf-16"))
    yield text("utf8-mark", EITHER, lambda t: b"\xef\xbb\xbf" + t.encode())
    yield text("not-utf8", REFUSED, lambda t: b"\xff" + t.encode())
    yield text("nul-after", REFUSED, lambda t: t + "\0")
    yield text(
        "sum-wrong",
        REFUSED,
        lambda t: t.replace('stream.bin": "', f'stream.bin": "{"0" * 64}", "x": "'),
    )
    yield text("sums-none", REFUSED, lambda t: t[: t.index('"sums"')] + '"sums": {}}')
    yield text("large", REFUSED, lambda t: t + " " * (1 << 20))


def figures(one: Callable[..., Case], text: Callable[..., Case]) -> Iterator[Case]:
    """Figures that no run has. A replay finds that they differ, and says so by exit code 1."""
    usual = {
        "by": "x",
        "metrics": {"wait_ns": {"p50": 1.0, "p95": 2.0}, "events_lost": 1},
        "ops": 1,
        "ops_per_s": 1.0,
        "status": 0,
    }

    def to(**changes: Any) -> Callable[[Tree], object]:
        return lambda m: arm(m).update(figures={**usual, **changes})

    def hole(value: str) -> Callable[[str], str]:
        return lambda t: t.replace(HOLE, value)

    def nest(levels: int) -> str:
        return '{"a":' * levels + "1" + "}" * levels

    yield one("figures", PLAYS, to())
    yield text("figures-1e999", REFUSED, hole("1e999"), to(metrics={"wait_ns": "@@"}))
    yield text("figures-deep-150", EITHER, hole(nest(150)), to(metrics={"a": "@@"}))
    yield text("figures-deep-900", EITHER, hole(nest(900)), to(metrics={"a": "@@"}))
    yield one(
        "figures-400-digits",
        EITHER,
        finding="L2",
        change=to(metrics={"wait_ns": {"p50": 10**400, "p95": 1}, "grace_periods": 10**400}),
    )
    yield one(
        "figures-escapes",
        EITHER,
        finding="L1",
        change=to(metrics={"wait_ns": {"p50": ESC, "p95": [1, 2]}, "events_lost": "<img src=x>"}),
    )
    yield one(
        "figures-key-escapes", EITHER, finding="L1", change=to(metrics={"wait_ns": {f"{ESC}k": 1}})
    )
