// SPDX-License-Identifier: GPL-2.0-or-later
/** What lessons ask of their views is there: sentences, moments, answers, panels, marks that questions point at. */

import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { commonMoments } from '../src/derive/moments.ts';
import { readPictureLesson } from '../src/protocol/contract.checks.gen.ts';
import { allViews, viewOf } from '../src/views/registry.ts';

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
const lessons = trees
  .filter((tree) => tree.view !== null)
  .map((tree) => readPictureLesson(tree, tree.slug));

it('lessons with a picture were found', () => {
  expect(lessons.length).toBeGreaterThanOrEqual(4);
});

describe.each(lessons.map((lesson) => [lesson.slug, lesson] as const))('%s', (_slug, lesson) => {
  const view = () => viewOf(lesson.view);

  it('has its view', () => expect([...allViews().keys()]).toContain(lesson.view));

  it('asks for sentences that the view can say', () => {
    const known = ['none', ...Object.keys(view().sentences)];
    for (const scene of lesson.scenes) expect(known, scene.id).toContain(scene.sentence);
  });

  it('looks at moments that can be found', () => {
    const known = ['newest', ...commonMoments, ...Object.keys(view().moments ?? {})];
    for (const scene of lesson.scenes) expect(known, scene.id).toContain(scene.moment);
  });

  it('predicts what can be answered, with a choice for every bound', () => {
    const known = ['ops_ratio', ...Object.keys(view().answers ?? {})];
    for (const [id, prediction] of Object.entries(lesson.predictions)) {
      expect(known, id).toContain(prediction.metric);
      expect(prediction.choices.length, id).toBe(prediction.bounds.length + 1);
      expect(prediction.bounds, id).toEqual(prediction.bounds.toSorted((a, b) => a - b));
    }
  });

  it('asks five questions about marks and arms that are shown', () => {
    expect(lesson.questions.length).toBe(5);
    for (const { ask, kind, arm } of lesson.questions) {
      expect(names(lesson.kinds), ask).toContain(kind);
      expect(names(lesson.arms), ask).toContain(arm);
    }
  });

  it('tells a story of five to nine steps, each with its text', () => {
    expect(lesson.scenes.length).toBeGreaterThanOrEqual(5);
    expect(lesson.scenes.length).toBeLessThanOrEqual(9);
    for (const { id } of lesson.scenes) expect(lesson.content[id]?.trim(), id).toBeTruthy();
  });

  it('lets somebody predict before a run, and says what not to conclude', () => {
    expect(Object.keys(lesson.predictions).length).toBeGreaterThan(0);
    expect(lesson.caveats.length).toBeGreaterThan(2);
  });
});

function names(list: readonly { readonly name: string }[]): readonly string[] {
  return list.map((one) => one.name);
}
