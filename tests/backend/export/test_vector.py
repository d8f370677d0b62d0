# SPDX-License-Identifier: GPL-2.0-or-later
"""An SVG shows what the PNG of the same moment shows; its text is text, its marks are shapes."""

from __future__ import annotations

import asyncio
import base64
import json
import re
import shutil
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from duet.base.settings import repo_root
from duet.cli.entry import main
from duet.export import browser, pictures, site
from duet.export import pictures as vector
from duet.export.browser import Browser, Screen
from duet.export.pictures import Shot
from duet.lessons import load as lessons

SVG = "{http://www.w3.org/2000/svg}"
HREF = "{http://www.w3.org/1999/xlink}href"
SHAPES = ("rect", "path", "circle")
RUN = "04-extent-shrinker/one-file"
HOSTILE = "</text><script>alert(1)</script><image href='http://x.example/'/> \"&amp;"

pytestmark = [
    pytest.mark.skipif(
        not any(map(shutil.which, browser.NAMES)), reason="Chromium is not installed: setup.sh dev"
    ),
    pytest.mark.skipif(
        not (repo_root() / vector.SCRIPT).is_file(), reason="the page is not built: setup.sh page"
    ),
]

DIFFERENT = """async (one, other, more) => {
  const pixels = async (png) => {
    const image = new Image();
    image.src = 'data:image/png;base64,' + png;
    await image.decode();
    const pen = new OffscreenCanvas(image.width, image.height).getContext('2d');
    pen.drawImage(image, 0, 0);
    return pen.getImageData(0, 0, image.width, image.height).data;
  };
  const [a, b] = [await pixels(one), await pixels(other)];
  if (a.length !== b.length) return 1;
  let differ = 0;
  for (let i = 0; i < a.length; i += 4)
    if ([0, 1, 2].some((c) => Math.abs(a[i + c] - b[i + c]) > more)) differ += 1;
  return differ / (a.length / 4);
}"""
"""Share of pixels of which a channel differs by more than so much of 255."""
VISIBLE = 40
PAINTED = """(async () => {
  const reported = (name, of) => new Promise((done) => of.addEventListener(name, done));
  if (document.readyState !== 'complete') await reported('load', window);
  document.body.getBoundingClientRect();
  // Asked for by name: `ready` may stand for the time before the layout wanted any.
  await Promise.all([...document.fonts].map((face) => face.load()));
  await document.fonts.ready;
  for (const _ of 'ab') await new Promise(requestAnimationFrame);
})()"""


@dataclass(frozen=True, slots=True)
class Pair:
    """Both pictures of one moment, and the SVG as Chromium draws it with the page's fonts."""

    svg: bytes
    differs: float
    blank: float


async def pair(out: Path, slug: str, name: str, dark: bool) -> Pair:
    folder = lessons.load(slug)
    path = folder.folder / f"recorded/{name}.duet"
    shot = Shot(screen=Screen(dark=dark))
    await asyncio.to_thread(site.write, site.check_site(out), folder, {"run": path})
    async with Browser(shot.screen) as page:
        await pictures.open_moment(page, out, folder, shot)
        png = await page.screenshot()
        svg = await vector.draw_svg(page, folder, path, pictures.scene_of(folder, ""))
        (fonts,) = await asyncio.to_thread(lambda: list(out.glob("fonts-*.css")))
        faces = fonts.read_text()
        style = f"<style>{faces} body {{ margin: 0 }} svg {{ display: block }}</style>"
        html = f"<!doctype html><meta charset=utf-8>{style}"
        (out / "empty.html").write_text(html)
        (out / "drawn.html").write_text(html + svg.decode().split("?>", 1)[1])
        shown = []
        for file in ("drawn.html", "empty.html"):
            await page.open(await page.uri(out / file))
            await page.evaluate(PAINTED)
            shown.append(await page.screenshot())
        differs, blank = [await share(page, png, other) for other in shown]
    return Pair(svg, differs, blank)


async def share(page: Browser, one: bytes, other: bytes) -> float:
    given = [json.dumps(base64.b64encode(png).decode()) for png in (one, other)]
    reported = await page.evaluate(f"({DIFFERENT})({', '.join(given)}, {VISIBLE})")
    assert isinstance(reported, int | float)
    return float(reported)


def words_in(tree: ElementTree.Element) -> str:
    return "\n".join("".join(text.itertext()) for text in tree.iter(f"{SVG}text"))


@pytest.mark.parametrize(
    ("slug", "name", "dark", "axis", "images", "shapes"),
    [
        ("01-shrinker-bitmaps", "56-containers", True, "shrinker ids", 2, 15),
        ("02-grace-periods", "3-hogs", False, "ms", 0, 500),
        ("03-inode-recycling", "removal", True, "grace periods", 0, 200),
        ("04-extent-shrinker", "one-file", False, "budget", 0, 1000),
        ("05-cacheline-pingpong", "watched-8", True, "d_lockref", 0, 200),
    ],
)
def test_it_shows_what_the_png_shows(
    slug: str,
    name: str,
    dark: bool,
    axis: str,
    images: int,
    shapes: int,
    tmp_path: Path,
    run_async: Any,
) -> None:
    made = run_async(pair(tmp_path, slug, name, dark))
    assert made.differs < 0.004  # without its text it would be 0.018, a px aside 0.024
    assert made.blank > 3 * made.differs + 0.01, "the comparison cannot fail"

    tree = ElementTree.fromstring(made.svg)
    tags = Counter(element.tag.removeprefix(SVG) for element in tree.iter())
    assert set(tags) <= {"svg", "title", "desc", "defs", "g", "text", "use", "image", *SHAPES} | {
        "clipPath",
        "pattern",
    }
    assert tags["image"] == images
    assert sum(tags[shape] for shape in SHAPES) > shapes
    said = words_in(tree)
    lesson = lessons.load(slug).lesson
    titles = [arm.title for arm in lesson.arms if arm.title in said.split("\n")]
    assert len(titles) >= (1 if slug.startswith("05") else 2)
    assert axis in said and "recorded" in said
    for element in tree.iter():
        assert element.get(HREF, "#").startswith(("#", "data:image/png;base64,"))
    reported = tree.findtext(f"{SVG}desc") or ""
    assert tree.findtext(f"{SVG}title", "").startswith(lesson.title)
    assert slug in reported and name in reported and "recorded run" in reported
    assert re.search(r"Moment: [\d.,]+ \w+", reported)


def test_names_cannot_become_markup(tmp_path: Path, run_async: Any) -> None:
    lesson = lessons.load("04-extent-shrinker")
    name = "<script>&\"'<desc>.duet"
    path = tmp_path / name
    shutil.copy(lesson.folder / "recorded/one-file.duet", path)

    async def taken() -> bytes:
        out = tmp_path / "site"
        await asyncio.to_thread(site.write, site.check_site(out), lesson, {"run": path})
        async with Browser(Screen()) as page:
            await pictures.open_moment(page, out, lesson, Shot(at_ms=0.5))
            await page.evaluate(
                "(async () => { const title = () => document.querySelector('.lane-header h3');"
                " for (let n = 0; n < 200 && !title(); n++)"
                " await new Promise((done) => setTimeout(done, 50));"
                f" title().textContent = {json.dumps(HOSTILE)}; }})()"
            )
            return await vector.draw_svg(page, lesson, path, pictures.scene_of(lesson, ""))

    tree = ElementTree.fromstring(run_async(taken()))
    assert {"script", "image"}.isdisjoint(e.tag.removeprefix(SVG) for e in tree.iter())
    assert HOSTILE.replace("\n", " ")[:24] in words_in(tree)
    assert name.removesuffix(".duet") in (tree.findtext(f"{SVG}desc") or "")


def test_it_takes_the_options_of_a_png(tmp_path: Path) -> None:
    made = []
    for at in ("0.5", "2.5"):
        out = tmp_path / f"{at}.svg"
        given = ["--to", "svg", "--at", at, "--size", "800x500", "--theme", "dark"]
        assert main(["export", RUN, str(out), *given, "--arms", "stock"]) == 0
        made.append(out.read_bytes())
    assert made[0] != made[1]
    tree = ElementTree.fromstring(made[0])
    assert (tree.get("width"), tree.get("height")) == ("800", "500")
    ground = tree.find(f"{SVG}rect")
    assert ground is not None and ground.get("fill") == "#101317"
    assert "stock" in words_in(tree) and "evictable list" not in words_in(tree)


def test_bad_input_is_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "x.svg")
    assert main(["export", RUN, out, "--to", "svgz"]) == 2
    assert "png, svg, gif" in capsys.readouterr().err
    assert main(["export", RUN, out, "--to", "svg", "--step", "nowhere"]) == 2
    assert "has no step 'nowhere'" in capsys.readouterr().err
    assert not Path(out).exists()


def test_without_its_script_it_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(vector, "SCRIPT", "frontend/dist/svg/none.js")
    assert main(["export", RUN, str(tmp_path / "x.svg"), "--to", "svg"]) == 3
    assert "Run ./setup.sh page." in capsys.readouterr().err
