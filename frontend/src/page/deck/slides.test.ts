// SPDX-License-Identifier: GPL-2.0-or-later
import { describe, expect, it } from 'vitest';
import type { Scene } from '../../protocol/lesson.ts';
import { mostSlides, slideCount, slidesOf, stopAt, stopsOf } from './slides.ts';

const scene = (over: Partial<Scene>) =>
  ({ id: 'one', arms: ['a', 'b'], show: [], predict: null, ...over }) as unknown as Scene;
const lesson = {
  arms: [
    { name: 'a', patch_texts: [] },
    { name: 'b', patch_texts: [{ name: 'p', text: '' }] },
    { name: 'c', patch_texts: [{ name: 'q', text: '' }] },
  ],
  predictions: { guess: {} },
} as unknown as Parameters<typeof slidesOf>[0];
const panels = ['chart', 'curve'];
const kinds = (over: Partial<Scene>) =>
  slidesOf(lesson, scene(over), panels).map(({ kind, parts }) => [
    kind,
    ...parts.map((part) => (part.what === 'panel' ? part.name : part.what)),
  ]);

describe('the slides of a step', () => {
  it('begin with the picture, or with the question before it', () => {
    expect(kinds({})).toEqual([['picture']]);
    expect(kinds({ predict: 'guess' })).toEqual([['ask'], ['picture']]);
    expect(kinds({ predict: 'no such' })).toEqual([['picture']]);
  });

  it('show the patch, and then charts and tables', () => {
    expect(kinds({ show: ['knobs', 'patch', 'latency', 'measured', 'chart'] })).toEqual([
      ['picture'],
      ['evidence', 'patch'],
      ['evidence', 'latency', 'measured', 'chart'],
    ]);
  });

  it('name the patched kernels of the step, and have no patch where none is', () => {
    const [, patch] = slidesOf(lesson, scene({ show: ['patch'], arms: ['a', 'b'] }), panels);
    expect(patch?.parts).toEqual([{ what: 'patch', arms: ['b'] }]);
    expect(kinds({ show: ['patch'], arms: ['a'] })).toEqual([['picture']]);
  });

  it('are three at most: after a question patch and charts share one', () => {
    expect(kinds({ predict: 'guess', show: ['patch', 'chart', 'curve'] })).toEqual([
      ['ask'],
      ['picture'],
      ['evidence', 'patch', 'chart', 'curve'],
    ]);
  });

  it('leave no chart alone', () => {
    expect(kinds({ show: ['chart'] })).toEqual([['picture'], ['evidence', 'chart', 'counts']]);
  });
});

describe('the stops of a lesson', () => {
  const scenes = [
    scene({ id: 'one' }),
    scene({ id: 'two', predict: 'guess', show: ['patch'] }),
    scene({ id: 'three' }),
  ];
  const stops = stopsOf({ ...lesson, scenes }, panels);

  it('ask at the first press and reveal at the second', () => {
    expect(
      stops.map(({ step, press, slide, number, revealed }) =>
        [step, press, slide.kind, number, revealed].join(' '),
      ),
    ).toEqual([
      'one 1 picture 1 true',
      'two 1 ask 2 false',
      'two 2 ask 2 true',
      'two 3 picture 3 true',
      'two 4 evidence 4 true',
      'three 1 picture 5 true',
    ]);
    expect(slideCount(stops)).toBe(5);
  });

  it('are found by step and press; too many presses are the last of the step', () => {
    expect(stopAt(stops, 'two', null)).toBe(1);
    expect(stopAt(stops, 'two', 3)).toBe(3);
    expect(stopAt(stops, 'two', 99)).toBe(4);
    expect(stopAt(stops, 'nowhere', 1)).toBe(0);
  });

  it('no step has more than three slides', () => {
    for (const one of scenes)
      expect(slidesOf(lesson, one, panels).length).toBeLessThanOrEqual(mostSlides);
  });
});
