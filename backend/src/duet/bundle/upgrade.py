# SPDX-License-Identifier: GPL-2.0-or-later
"""Manifests of older formats become those of today's, one step a format. Pure.

A step takes the tree as its format had it and returns it as the next format has it; nothing is
invented: what an old recording did not say stays unsaid. A new format adds a step here, a line to
FORMAT.md and a recording of the old format to the tests.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Tree = dict[str, Any]


def upgrade(tree: Tree) -> Tree:
    """The manifest as today's format has it; one that is no manifest stays what it is."""
    while type(number := tree.get("format")) is int and number in STEPS:
        tree = STEPS[number](tree)
    return tree


def _from_1(tree: Tree) -> Tree:
    """Format 2 says kernel version, config, window, shift, seed and figures by themselves."""
    new = {**tree, "format": 2}
    host = tree.get("host")
    if isinstance(host, dict) and str(host.get("window_ms", "")).isdecimal():
        new["host"] = {key: value for key, value in host.items() if key != "window_ms"}
        new["window_ms"] = int(str(host["window_ms"])[:12])
    arms = tree.get("arms")
    if isinstance(arms, list):
        new["arms"] = [_arm_from_1(arm) if isinstance(arm, dict) else arm for arm in arms]
    return new


def _arm_from_1(arm: Tree) -> Tree:
    kernel = arm.get("kernel")
    if not isinstance(kernel, dict):
        return arm
    facts = {
        "kernel_version": kernel.get("kernel_version", kernel.get("release", "")),
        "config_sha256": kernel.get("config_sha256", ""),
    }
    return {**arm, **facts}


STEPS: dict[int, Callable[[Tree], Tree]] = {1: _from_1}
