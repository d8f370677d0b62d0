# SPDX-License-Identifier: GPL-2.0-or-later
"""A class tries changed patches: built in a real box, where the instructor lets it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from duet.store.store import Store
from tests.plugins.classroom.pages import refused
from tests.plugins.classroom.trying import STEP, NumberedStage, gallery, trying
from tests.support import miniature
from tests.support.own_server import diff, own_app
from tests.support.small_tree import NEEDS_BOX
from tests.support.toy_server import SLUG, Page, serving


async def built(one: Page) -> str:
    """Send the change; gives the name of its arm, once its kernel is built."""
    await one.say(type="change", lesson=SLUG, arm="srcu", diff=diff())
    last = await one.until(lambda m: m["type"] == "changed" and m["phase"] in ("built", "failed"))
    assert last["phase"] == "built", last
    return str(last["arm"])


@NEEDS_BOX
def test_equal_patches_are_one_run_against_the_kernel_that_they_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run_async: Any
) -> None:
    settings = miniature.make_settings(tmp_path, miniature.REAL_FILES)
    store = Store(f"sqlite:///{tmp_path / 'classes.sqlite'}")
    stage = NumberedStage(50.0)

    async def go(address: str) -> None:
        async with trying(address, "Ada", "Bo") as (teacher, ada, bo):
            own = await built(ada)
            tries = {"type": "class_try", "lesson": SLUG, "step": STEP, "arms": ["srcu", own]}
            closed = await refused(ada, **tries, params={"seconds": 1})
            assert "not change a patch" in closed["sentence"]
            opens = {"type": "class_open_step", "lesson": SLUG, "step": STEP, "knobs": True}
            await teacher.say(**opens, patches=True)
            opened = await ada.until(
                lambda m: m["type"] == "class_opened" and m["steps"][0]["patches"]
            )
            assert opened["no_patches"] == ""
            await ada.say(**tries, params={"seconds": 1})
            await gallery(ada, "done")
            assert await built(bo) == own, "the same change is the same arm"
            await bo.say(**tries, params={"seconds": 1})
            (one,) = await gallery(bo, "done")
            assert [maker["name"] for maker in one["makers"]] == ["Ada", "Bo"]
            assert [lane["arm"] for lane in one["result"]["lanes"]] == ["srcu", own]
            assert one["summary"] and one["turned"] == {"seconds": 1}

    with serving(own_app(tmp_path, settings, monkeypatch, stage, store)) as address:
        run_async(go(address))
    assert len(stage.made) == 1
