// SPDX-License-Identifier: GPL-2.0-or-later
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import { testLesson } from '../../../../test/fixtures/page.tsx';
import type { ClassReport } from '../../../protocol/contract.gen.ts';
import { reportHref, reportIn } from './address.ts';
import {
  Bars,
  barsOf,
  binsOf,
  HeatMap,
  LostCurve,
  roundWords,
  stepsOf,
  Tried,
  textOf,
} from './report-page.tsx';

const lesson = testLesson();
const step = lesson.scenes[0]!.id;
const rounds = [
  { round: 1, answers: 3, right: 1, counts: { '0': 2, '1': 1 }, marks: [] },
  { round: 2, answers: 2, right: null, counts: { '1': 2 }, marks: [] },
];
const poll = {
  ...{ step: '', question: 'poll-1', text: 'Go on?', options: ['yes', 'no', 'later'] },
  ...{ rounds, changed: 2 },
};
const report: ClassReport = {
  ...{ class_id: 'c', title: 'Monday', lesson: lesson.slug, members: 3, open: false },
  ...{ started_at: '2026-11-02T10:00:00+00:00', lasted_s: 3600 },
  questions: [poll, { ...poll, step: 'gone', question: 'x', text: '' }],
  tries: [],
  raised: [{ step, text: 'Why?', votes: 2, answered: false }],
  lost: [
    { at_s: 30, step, count: 1 },
    { at_s: 50, step: 'gone', count: 3 },
  ],
};

test('a report follows the steps of its lesson, then others, then polls', () => {
  expect(stepsOf(report, lesson).map(({ title }) => title)).toEqual([
    lesson.scenes[0]!.title,
    'gone',
    'Polls',
  ]);
  expect(stepsOf(report, null).map(({ id, lost }) => [id, lost])).toEqual([
    ['gone', 3],
    [step, 1],
    ['', 0],
  ]);
  expect(textOf(report.questions[1]!, lesson)).toBe('x');
});

test('bars stand for each option in both rounds, also for what nobody chose', () => {
  expect(barsOf(poll, lesson)).toEqual([
    { label: 'yes', counts: [2, 0] },
    { label: 'no', counts: [1, 2] },
    { label: 'later', counts: [0, 0] },
  ]);
  expect(rounds.map((one) => roundWords(one, true))).toEqual([
    'Round 1: 3 answers, 1 judged right',
    'Round 2: 2 answers',
  ]);
  const drawn = renderToStaticMarkup(<Bars bars={barsOf(poll, lesson)} rounds={rounds} />);
  expect(drawn.match(/width:100%/g)).toHaveLength(1);
});

test('the curve has the whole class in it, and says where most were lost', () => {
  const { bins, width, whole } = binsOf(report.lost, report.lasted_s);
  expect([bins.length, width, whole]).toEqual([120, 30, 3600]);
  expect(bins[1]).toEqual({ from: 30, count: 4, step: 'gone' });
  const drawn = renderToStaticMarkup(<LostCurve report={report} words={lesson} />);
  expect(drawn).toContain('At 0:30, in “gone”: 4.');
  expect(binsOf([{ at_s: 70, step, count: 1 }], 3).whole).toBe(80);
});

test('those who pointed at one place are one disc with their number', () => {
  const drawn = renderToStaticMarkup(
    <HeatMap
      marks={[
        [0.5, 0.5],
        [0.5, 0.5],
        [0.1, 0.9],
      ]}
    />,
  );
  expect(drawn.match(/<circle/g)).toHaveLength(2);
  expect(drawn).toContain('>2</text>');
});

test('an address names a class by its id alone', () => {
  expect(reportIn(reportHref('aB_c-9'))).toBe('aB_c-9');
  expect(reportIn('?report=../x')).toBeNull();
  expect(reportIn('?lesson=x')).toBeNull();
});

test('what was tried stands with its number, or with why it has none', () => {
  const one = {
    ...{ number: 1, lesson: lesson.slug, step, makers: 2, turned: {}, summary: 'wake one' },
    ...{ workload: 'w', clock: 'wall', run: 'kept:x:1', state: 'done', sentence: '', title: 'ops' },
    ...{ unit: 'op/s', values: { [lesson.arms[0]!.name]: 900, gone: 180 }, ratio: 0.2 },
  };
  const failed = { ...one, number: 2, values: {}, ratio: null, sentence: 'No lane came up.' };
  const tried = { ...report, tries: [one, failed] };
  const drawn = renderToStaticMarkup(<Tried report={tried} words={lesson} />);
  expect(drawn).toContain(`${lesson.arms[0]!.title} 900, gone 180 op/s, ×0.2`);
  expect(drawn).toContain('No lane came up.');
  expect(drawn).toContain('patch: wake one');
  expect(renderToStaticMarkup(<Tried report={report} words={null} />)).toBe('');
});
