# SPDX-License-Identifier: GPL-2.0-or-later
"""docs/CI.md and the devcontainer: they parse, and what they call exists."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from duet.cli.app import app

MODES = ("page", "kernels", "dev", "all", "docs")


@pytest.fixture(scope="module")
def examples(root: Path) -> dict[str, Any]:
    """By the heading above each."""
    text = (root / "docs/CI.md").read_text()
    found = re.findall(r"^## ([^\n]+)\n+```yaml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return {heading: yaml.safe_load(body) for heading, body in found}


def texts(tree: object) -> Iterator[str]:
    """Every string of a document."""
    if isinstance(tree, str):
        yield tree
    elif isinstance(tree, dict):
        for value in tree.values():
            yield from texts(value)
    elif isinstance(tree, list):
        for value in tree:
            yield from texts(value)


def calls(tree: object) -> list[list[str]]:
    """The words of each call of ./duet."""
    lines = [line for text in texts(tree) for line in text.split("&&")]
    words = [
        shlex.split(re.sub(r"\$\{\{.*?\}\}", "x", line)) for line in lines if "./duet " in line
    ]
    return [line[line.index("./duet") + 1 :] for line in words]


def test_both_examples_are_workflows(examples: dict[str, Any]) -> None:
    github, gitlab = examples["GitHub Actions"], examples["GitLab CI"]
    (job,) = github["jobs"].values()
    assert job["runs-on"] and all({"run", "uses"} & set(step) for step in job["steps"])
    assert True in github or "on" in github  # YAML 1.1 reads `on` as a truth value
    assert gitlab["duet"]["script"] and gitlab["duet"]["image"] == "debian:12" == job["container"]


@pytest.mark.parametrize("name", ["GitHub Actions", "GitLab CI"])
def test_every_command_and_option_of_an_example_exists(examples: dict[str, Any], name: str) -> None:
    verbs = app.commands
    found = calls(examples[name])
    assert found[0][0] == "try"
    for verb, *words in found:
        known = {option for param in verbs[verb].params for option in param.opts}
        assert {word for word in words if word.startswith("--")} <= known, verb


@pytest.mark.parametrize("name", ["GitHub Actions", "GitLab CI"])
def test_the_set_up_is_called_with_a_mode_that_it_has(
    examples: dict[str, Any], name: str, root: Path
) -> None:
    text = "\n".join(texts(examples[name]))
    (mode,) = re.findall(r"\./setup\.sh (\w+)", text)
    assert mode in modes(root)


def modes(root: Path) -> set[str]:
    found = set(re.findall(r"^#   \./setup\.sh (\w+)", (root / "setup.sh").read_text(), re.M))
    assert set(MODES) <= found
    return found


def test_the_devcontainer_is_the_system_that_the_set_up_is_for(root: Path) -> None:
    tree = json.loads((root / ".devcontainer/devcontainer.json").read_text())
    base = re.search(r"^ARG BASE=(\S+)", (root / "Dockerfile").read_text(), re.MULTILINE)
    assert base is not None and tree["image"] == base[1]
    script, mode = tree["postCreateCommand"].split()
    assert (root / script).is_file() and mode in modes(root)
    (port,) = tree["forwardPorts"]
    serve = app.commands["serve"]
    assert port in [param.default for param in serve.params]
    assert str(port) in tree["portsAttributes"]
    mount = dict(part.split("=") for part in tree["mounts"][0].split(","))
    assert mount["target"] == tree["containerEnv"]["DUET_CACHE"]


def test_the_statuses_in_the_text_are_those_of_the_code(root: Path) -> None:
    text = (root / "docs/CI.md").read_text()
    code = (root / "backend/src/duet/measure/reports/kcidb.py").read_text()
    named = set(re.findall(r"`(DONE|PASS|FAIL|ERROR|MISS|SKIP)`", text))
    assert named == set(re.findall(r'"(DONE|PASS|FAIL|ERROR|MISS|SKIP)"', code))
