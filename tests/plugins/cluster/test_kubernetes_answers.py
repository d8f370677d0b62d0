# SPDX-License-Identifier: GPL-2.0-or-later
"""What is read of a cluster's answers. Each was seen in one of a real cluster."""

from __future__ import annotations

from typing import Any

import yaml

from duet.base.settings import repo_root
from duet.plugins.cluster.kubernetes.kubectl import (
    exit_code,
    job,
    lacked_memory,
    past_deadline,
    trouble,
)
from duet.plugins.cluster.kubernetes.pool import loss_of
from duet.plugins.cluster.mounted import environment
from duet.plugins.cluster.types import Ended, PoolSettings, Want
from tests.plugins.cluster.test_kubernetes import validate


def pod(**state: Any) -> dict[str, Any]:
    """A pod whose container is in a state."""
    return {"status": {"containerStatuses": [{"state": state}]}, "spec": {"nodeName": "n1"}}


def test_only_a_program_that_was_killed_lacked_memory() -> None:
    killed = pod(terminated={"exitCode": 137, "reason": "OOMKilled"})
    assert lacked_memory(killed) and exit_code(killed) == 137
    assert not lacked_memory(pod(terminated={"exitCode": 1, "reason": "OOMKilled"}))
    assert not lacked_memory(pod(terminated={"exitCode": 137, "reason": "Error"}))


def test_a_container_that_never_begins_is_trouble() -> None:
    said = 'Back-off pulling image "localhost/nosuch:1"'
    waits = pod(waiting={"reason": "ImagePullBackOff", "message": said})
    assert trouble(waits) == ("ImagePullBackOff", said)
    loss = loss_of(waits)
    assert loss is not None and "on host n1 failed (ImagePullBackOff" in loss.sentence
    assert trouble(pod(waiting={"reason": "ContainerCreating"})) == ("", "")


def test_a_job_past_its_deadline_says_so_in_its_conditions() -> None:
    ran_out = {"type": "Failed", "status": "True", "reason": "DeadlineExceeded"}
    assert past_deadline([{"status": {"conditions": [ran_out]}}])
    assert not past_deadline([{"status": {"conditions": [ran_out | {"reason": "Other"}]}}, {}])


def test_lanes_are_alike_by_the_kind_or_else_by_the_host() -> None:
    for kinds, key in (((), "kubernetes.io/hostname"), (("a",), "kernel-duet/kind")):
        settings = PoolSettings("kubernetes", kinds=kinds, image="i")
        tree = job("duet-1", 0, Want(lanes=2, alike=True), settings)
        affinity = tree["spec"]["template"]["spec"]["affinity"]["podAffinity"]
        (rule,) = affinity["requiredDuringSchedulingIgnoredDuringExecution"]
        assert rule["topologyKey"] == key


def test_a_program_has_the_places_of_the_image_and_not_those_of_the_server() -> None:
    image = {"PATH": "/bin", "DUET_CACHE": "/cache", "DUET_SETUP": "skip", "KUBERNETES_PORT": "1"}
    given = {"DUET_CACHE": "/srv/cache", "DUET_ROOT": "/srv", "PYTHONPATH": "/srv", "A": "b"}
    wanted = {"PATH": "/bin", "DUET_CACHE": "/cache", "DUET_SETUP": "skip", "A": "b"}
    assert environment(image, given) == wanted


def test_the_rights_of_a_server_are_valid_objects_and_let_it_read_no_secret() -> None:
    text = (repo_root() / "packaging/kubernetes/rights.yaml").read_text()
    trees = list(yaml.safe_load_all(text))
    for tree in trees:
        validate(tree)
    (role,) = [tree for tree in trees if tree["kind"] == "Role"]
    may = {kind: rule["verbs"] for rule in role["rules"] for kind in rule["resources"]}
    assert may["secrets"] == ["create"] and set(may) == {"jobs", "secrets", "pods", "pods/log"}


def test_the_last_line_of_a_program_is_in_its_errors_or_else_in_its_output() -> None:
    assert Ended(1, "", b"result\n", b"first\nlast\n", 0).last_line == "last"
    assert Ended(1, "", b"result\nlast\n", b"", 0).last_line == "last"
    assert Ended(1, "", b"", b"", 0).last_line == ""
