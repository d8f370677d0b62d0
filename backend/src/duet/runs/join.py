# SPDX-License-Identifier: GPL-2.0-or-later
"""Bundles of the lanes of one run, from several hosts, as one bundle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from duet.bundle import Bundle, Manifest, open_bundle, write_bundle
from duet.errors import InfraError
from duet.processes.run_dir import RunDir

SAME: Final = ("lesson", "clock", "shift", "seed", "params", "workload", "window_ms")
"""What lanes of one run share."""


class Part(NamedTuple):
    """Some lanes, as their host has sent them.

    Args:
        arms: the lanes that were asked of it.
        content: a bundle.
    """

    arms: Sequence[str]
    content: bytes


def joined(parts: Sequence[Part], arms: Sequence[str], left_out: Mapping[str, str]) -> bytes:
    """One bundle of all. Blocking.

    Each is read as a bundle that may come from anywhere.

    Args:
        arms: of the run; the lanes come in this order.
        left_out: lanes that failed, and why.

    Raises:
        InputError: one is no bundle.
        InfraError: they are not of one run, or there is no room.
    """
    with RunDir() as folder:  # swept at the next start, if this process is killed
        bundles = []
        for number, part in enumerate(parts):
            path = folder / f"part-{number}.duet"
            path.write_bytes(part.content)
            bundles.append(_asked(open_bundle(path), part.arms))
        having = {arm: _one(bundles, arm) for arm in arms}
        lanes = {arm: bundle for arm, bundle in having.items() if bundle is not None}
        manifest = _manifest(bundles, lanes, left_out)
        records = {arm: bundle.records(arm) for arm, bundle in lanes.items()}
        patches = _patches(bundles)
        path = folder / "run.duet"
        write_bundle(path, manifest, records, patches)
        return path.read_bytes()


def _asked(bundle: Bundle, arms: Sequence[str]) -> Bundle:
    for entry in bundle.manifest.arms:
        if entry.name not in arms:
            raise _of_several(f"one has the lane '{entry.name:.60}', which was not asked of it")
    return bundle


def _patches(bundles: Sequence[Bundle]) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for one in bundles:
        for name in one.patches:
            if found.setdefault(name, one.patch(name)) != one.patch(name):
                raise _of_several(f"they have different texts of '{name:.60}'")
    return found


def _one(bundles: Sequence[Bundle], arm: str) -> Bundle | None:
    having = [one for one in bundles if any(entry.name == arm for entry in one.manifest.arms)]
    if len(having) > 1:
        raise _of_several(f"{len(having)} have the lane '{arm:.60}'")
    return having[0] if having else None


def _manifest(
    bundles: Sequence[Bundle], lanes: Mapping[str, Bundle], left_out: Mapping[str, str]
) -> Manifest:
    manifests = [one.manifest for one in bundles]
    first = manifests[0]
    for name in SAME:
        if any(getattr(one, name) != getattr(first, name) for one in manifests):
            raise _of_several(f"they differ in '{name}'")
    if not lanes:
        raise _of_several("none has a lane of it")
    return first.model_copy(
        update={
            "created": min(one.created for one in manifests),
            "arms": tuple(bundle.manifest.arm(arm) for arm, bundle in lanes.items()),
            "left_out": {
                **{arm: why for one in manifests for arm, why in one.left_out.items()},
                **{arm: why for arm, why in left_out.items() if arm not in lanes},
            },
            "host": _facts([one.host for one in manifests]) | {"hosts": str(len(bundles))},
            "versions": _facts([one.versions for one in manifests]),
        }
    )


def _facts(of: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """What all say, once; where they differ, all that was said."""
    found: dict[str, str] = {}
    for name in dict.fromkeys(name for one in of for name in one):
        found[name] = "; ".join(dict.fromkeys(one[name] for one in of if name in one))
    return found


def _of_several(why: str) -> InfraError:
    return InfraError(
        f"hosts have sent files that are not of one run: {why}.",
        remedy="Start the run again; if it happens again, look at the server's log.",
    )
