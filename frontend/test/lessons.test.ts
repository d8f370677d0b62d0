// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * The page can read each lesson, and has its view. The names that a lesson asks its view for, and the rest of what a
 * lesson owes, are checked by `./duet lint`, from the catalogue of views (tools/views.ts).
 */

import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { firstKnobs, sceneKnobs } from '../src/navigation/knobs.ts';
import { toStep } from '../src/navigation/navigation.ts';
import { mostSlides, stopsOf } from '../src/page/deck/slides.ts';
import { readPictureLesson } from '../src/protocol/contract.checks.gen.ts';
import { viewOf } from '../src/views/registry.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const dump = `
import json
from duet.lessons.view import lesson_tree
from duet.lessons.load import load, slugs
print(json.dumps([lesson_tree(load(s), [], {}) for s in slugs()]))
`;
const trees = JSON.parse(
  execFileSync(`${root}.venv/bin/python`, ['-c', dump], { cwd: root, encoding: 'utf8' }),
) as { view: string | null; slug: string }[];
const pictures = trees.filter((tree) => tree.view !== null);

const beside: ReadonlySet<string> = new Set(['words', 'explain', 'quiz']);

/** What a step's claim rests on: it must not get lost when a story is edited. */
const shows = [
  ['02-grace-periods', 'expedited', 'work'],
  ['02-grace-periods', 'the-reader', 'walks'],
  ['02-grace-periods', 'ticks', 'tracks'],
  ['03-inode-recycling', 'dam', 'queue'],
] as const;

it.each(shows)('%s, step %s, has its %s in the picture', (slug, step, what) => {
  const lesson = readPictureLesson(trees.find((tree) => tree.slug === slug)!, slug);
  expect(lesson.scenes.find(({ id }) => id === step)?.show).toContain(what);
});

/** Questions whose mark stands on several lanes, or is one of several kinds: each is right. */
const alike = [
  ['01-shrinker-bitmaps', 'root_visit', []],
  ['02-grace-periods', 'gp_check', ['gp_recheck']],
  ['03-inode-recycling', 'shadow', []],
] as const;

it.each(alike)('%s takes %s on any lane', (slug, kind, also) => {
  const lesson = readPictureLesson(trees.find((tree) => tree.slug === slug)!, slug);
  const asked = lesson.questions.find((one) => one.kind === kind);
  expect(asked).toMatchObject({ any_lane: true, also });
});

it('lessons with a picture were found', () => {
  expect(pictures.length).toBeGreaterThanOrEqual(4);
});

describe.each(pictures.map((tree) => [tree.slug, tree] as const))('%s', (slug, tree) => {
  it('is what the page expects, and has its view', () => {
    const lesson = readPictureLesson(tree, slug);
    expect(viewOf(lesson.view).kind).toBe(lesson.view);
    for (const { id } of lesson.scenes) expect(lesson.content[id]?.trim(), id).toBeTruthy();
  });

  it('each step has its own knobs, whichever step one comes from', () => {
    const lesson = readPictureLesson(tree, slug);
    for (const from of lesson.scenes)
      for (const to of lesson.scenes) {
        const there = sceneKnobs(lesson, firstKnobs(lesson), from);
        const { knobs } = toStep(lesson, from, there, to.id);
        expect([from.id, to.id, knobs]).toEqual([from.id, to.id, null]);
      }
  });

  it('is a deck: a picture of each step, and three slides at most; words begin it, questions end it', () => {
    const lesson = readPictureLesson(tree, slug);
    const stops = stopsOf(lesson, Object.keys(viewOf(lesson.view).panels ?? {}));
    expect(stops[0]?.slide).toMatchObject({ kind: 'words', mail: true });
    expect(stops.at(-1)).toMatchObject({ slide: { kind: 'quiz' }, revealed: true });
    const ofSteps = stops.filter((stop) => !beside.has(stop.slide.kind));
    for (const { id, predict } of lesson.scenes) {
      const own = ofSteps.filter((stop) => stop.step === id);
      const kinds = own.map((stop) => stop.slide.kind);
      expect(new Set(own.map((stop) => stop.number)).size, id).toBeLessThanOrEqual(mostSlides);
      expect(
        kinds.filter((kind) => kind === 'picture'),
        id,
      ).toHaveLength(1);
      expect(
        kinds.slice(0, 2).every((kind) => kind === 'ask'),
        id,
      ).toBe(predict !== null);
    }
  });
});
