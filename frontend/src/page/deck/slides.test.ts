// SPDX-License-Identifier: GPL-2.0-or-later
import { describe, expect, it } from 'vitest';
import type { Lesson, Scene } from '../../protocol/lesson.ts';
import {
  mostSlides,
  paperStops,
  type Slide,
  slideCount,
  slidesOf,
  stopAt,
  stopsOf,
} from './slides.ts';

type Whole = Parameters<typeof stopsOf>[0];

const scene = (over: Partial<Scene>) =>
  ({
    ...{ id: 'one', arms: ['a', 'b'], show: [], predict: null, patch_at: [] },
    ...over,
  }) as unknown as Scene;
const lesson = {
  arms: [
    { name: 'a', patch_texts: [] },
    { name: 'b', patch_texts: [{ name: 'p', text: '+ wait(x);\n+ both();' }] },
    { name: 'c', patch_texts: [{ name: 'q', text: '+ hurry(x);\n+ both();' }] },
  ],
  predictions: { guess: {} },
  scenes: [],
  ...{ terms: [], mails: {}, explain: null, quiz: [] },
} as unknown as Whole;
const panels = ['chart', 'curve'];
const partsOf = (slide: Slide) => (slide.kind === 'evidence' ? slide.parts : []);
const words = (slide: Slide) => [
  slide.kind,
  ...partsOf(slide).map((part) => (part.what === 'panel' ? part.name : part.what)),
];
const kinds = (over: Partial<Scene>) => slidesOf(lesson, scene(over), panels).map(words);

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
      ['evidence', 'measured', 'latency', 'chart'],
    ]);
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

describe('the patch of a step', () => {
  const patches = (scenes: readonly Partial<Scene>[]) => {
    const all = scenes.map((over, i) => scene({ id: `s${i}`, show: ['patch'], ...over }));
    return all.map((one) =>
      slidesOf({ ...lesson, scenes: all }, one, panels)
        .flatMap(partsOf)
        .map((part) => (part.what === 'patch' ? [part.arm, ...part.at] : [])),
    );
  };
  const firsts = (scenes: readonly Partial<Scene>[]) => {
    const all = scenes.map((over, i) => scene({ id: `s${i}`, show: ['patch'], ...over }));
    const parts = all.flatMap((one) => slidesOf({ ...lesson, scenes: all }, one, panels));
    return parts.flatMap(partsOf).map((part) => part.what === 'patch' && part.first);
  };

  it('says what it is for where it is first shown', () => {
    expect(firsts([{ patch_at: ['both()'] }, { patch_at: ['wait('] }])).toEqual([true, false]);
  });

  it('is that of the patched kernels of the step, and none where none is', () => {
    expect(patches([{ arms: ['a', 'b', 'c'] }])).toEqual([[['b'], ['c']]]);
    expect(patches([{ arms: ['a'] }])).toEqual([[]]);
  });

  it('is shown once: a later step shows a patch that is new, or none', () => {
    expect(patches([{}, { arms: ['b', 'c'] }, { arms: ['b', 'c'] }])).toEqual([
      [['b']],
      [['c']],
      [],
    ]);
    expect(patches([{ show: [] }, {}])).toEqual([[], [['b']]]);
  });

  it('is shown again at the lines that the step names, by the first kernel that has them', () => {
    const at = (patch_at: string[]) => ({ arms: ['b', 'c'], patch_at });
    expect(patches([{}, at(['both()'])])).toEqual([[['b']], [['b', 'both()']]]);
    expect(patches([at(['hurry(', 'both()'])])).toEqual([
      [
        ['b', 'both()'],
        ['c', 'hurry('],
      ],
    ]);
    // What was not seen there is new later.
    expect(patches([at(['hurry(']), { arms: ['b', 'c'] }])).toEqual([[['c', 'hurry(']], [['b']]]);
  });
});

describe('before the first step and behind the last', () => {
  const term = (name: string, entry = true) => ({ name, entry });
  const whole = (over: object) =>
    ({ ...lesson, scenes: [scene({ id: 'one' }), scene({ id: 'two' })], ...over }) as Whole;
  const quiz = [{ ask: 'a' }, { ask: 'b' }] as unknown as Lesson['quiz'];
  const shown = (over: object) =>
    stopsOf(whole(over), panels).map(({ step, press, slide, revealed }) => {
      const more =
        slide.kind === 'words' ? slide.terms : slide.kind === 'quiz' ? slide.questions : [];
      return [step, press, slide.kind, ...more, ...(revealed ? [] : ['?'])].join(' ');
    });

  it('stand words, three on a slide at most, evenly; the first slide says whose mail it was', () => {
    const terms = ['a', 'b', 'c', 'd'].map((name) => term(name));
    expect(shown({ terms: [...terms, term('e', false)], mails: { first: {} } })).toEqual([
      ...['one 1 words a b', 'one 2 words c d', 'one 3 picture', 'two 1 picture'],
    ]);
    const slides = stopsOf(whole({ terms, mails: { first: {} } }), panels).map(
      ({ slide }) => slide,
    );
    expect(slides.map((slide) => slide.kind === 'words' && slide.mail)).toEqual([
      ...[true, false, false, false],
    ]);
  });

  it('stand three sentences and questions, each before and after its answer', () => {
    expect(shown({ explain: { ask: '', ours: [] }, quiz })).toEqual([
      ...['one 1 picture', 'two 1 picture', 'two 2 explain ?', 'two 3 explain'],
      ...['two 4 quiz 0 ?', 'two 5 quiz 0', 'two 6 quiz 1 ?', 'two 7 quiz 1'],
    ]);
  });

  it('on paper a prediction is open, our sentences stand, and questions share a page', () => {
    const scenes = [scene({ id: 'one', predict: 'guess' })];
    const stops = stopsOf(whole({ scenes, explain: { ask: '', ours: [] }, quiz }), panels);
    const printed = paperStops(stops);
    expect(printed.map(({ number, slide, revealed }) => [number, slide.kind, revealed])).toEqual([
      [1, 'ask', false],
      [2, 'picture', true],
      [3, 'explain', true],
      [4, 'quiz', false],
    ]);
    expect(printed.at(-1)?.slide).toEqual({ kind: 'quiz', questions: [0, 1] });
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
      expect(slidesOf({ ...lesson, scenes }, one, panels).length).toBeLessThanOrEqual(mostSlides);
  });
});
