// SPDX-License-Identifier: GPL-2.0-or-later
/** Sentences, counts, answers, moments: read off samples, points and the model, for the moment. */

import type { Frame, RunIndex } from '@page/derive/types.ts';
import { lineLesson, lineRun, lockRun, stepFrame } from '@test/fixtures/cachelines.ts';
import { expect, test } from 'vitest';
import { answers, counts, nearby } from './answers.ts';
import { soFar, totalsOf } from './counted.ts';
import { moments } from './index.tsx';
import { burstWords, phasesOf } from './lock.ts';
import { transfersPerStat } from './model.ts';
import { laneNow } from './now.ts';
import { phaseRows } from './panels.tsx';
import { sentences, summary } from './words.ts';

const run = lineRun({ letters: 24, stats: 30 });
const say = (name: string, index: RunIndex, frame: Frame) =>
  sentences[name]!(index, frame, lineLesson);

test('one stat: reads, what it wrote, and what had to come', () => {
  const alone = lineRun({ letters: 24, stats: 12 }, ['stock'], { model_cpus: 1 });
  expect(say('one_stat', alone, stepFrame(0))).toMatch(/has none of the three lines yet/);
  expect(say('one_stat', alone, stepFrame(21))).toBe(
    'Stat 1: so far 19 reads, 2 read-modify-writes of d_lockref, counted; 2 lines had to be fetched from memory, modelled.',
  );
  expect(say('one_stat', alone, stepFrame(42))).toBe(
    'Stat 2: so far 19 reads, 2 read-modify-writes of d_lockref, counted; no line had to be fetched, modelled.',
  );
});

test('the shared line: what the name has to do with it, with 24 letters and with 8', () => {
  expect(say('shared_line', run, stepFrame(400))).toMatch(
    /^24 letters: 2 reads of the name per stat are on the line of the count, counted over the whole run\. .*So far \d+ transfers in 19 stats, [\d.]+ each, \d+ of them to read the name; modelled\.$/,
  );
  const eight = lineRun({ letters: 8, stats: 30 });
  expect(say('shared_line', eight, stepFrame(400))).toMatch(
    /^8 letters: no read of the name is on .* none of them to read the name; modelled\.$/,
  );
});

test('compared: both lanes over the same number of accesses', () => {
  expect(say('compared', run, stepFrame(800))).toMatch(
    /^So far: stock 6\.1 [\d.]+ transfers per stat, \d+ of \d+ to read the name and d_lockref moved .* The count begins at byte 88 on stock 6\.1 and 136 on d_lockref moved\.$/,
  );
});

test('many CPUs: the prediction stands beside the mail', () => {
  const index = lineRun({ letters: 24, stats: 30 }, ['stock', 'moved'], { model_cpus: 20 });
  const words = say('many', index, stepFrame(840));
  expect(words).toMatch(
    /^With 20 CPUs, transfers per stat so far: [\d.]+ on stock 6\.1 and [\d.]+ on d_lockref/,
  );
  expect(words).toMatch(/the mail measured 1\.56 on 20 CPUs\.$/);
  expect(say('price', index, stepFrame(840))).toMatch(
    /^With 20 CPUs, a CPU changes the count every/,
  );
});

test('what is proved are counts', () => {
  expect(say('proved', run, stepFrame(10))).toMatch(
    /^Counted over the whole run: stock 6\.1 21 accesses per stat, 4 reads and 2 read-modify-writes of the count's line \(line 1\) and d_lockref moved 21 .* 2 reads and 2 .*\(line 2\)/,
  );
});

test('a stuck lock, and one that recovers', () => {
  expect(say('stuck', lockRun(), stepFrame(3e6))).toBe(
    'Under the lock, d_lockref moved: before the listing 0 % (80,000 operations per second), during the listing 25 % (12,000 operations per second) and after it 100 % (40 operations per second).',
  );
  expect(say('stuck', lockRun(), stepFrame(5e5))).toMatch(
    /before the listing so far 0 % \(80,000 operations per second\)\.$/,
  );
  expect(phaseRows(lockRun(false).lanes[0]!, lockRun()).map(({ slow }) => slow)).toEqual([
    '0 %',
    '25 %',
    '0 %',
  ]);
  expect(phasesOf({ params: {}, workload: 'storm' })).toHaveLength(1);
});

test('a share that one burst makes is explained, up to the moment and of the whole phase', () => {
  const burst = lockRun(true, ['moved'], true);
  expect(say('stuck', burst, stepFrame(3e6))).toMatch(
    /during the listing 5\.4 % \(3,181 .* and after it 100 % \(40 operations per second\)\. Of the 3,181 operations during the listing, 3,001 came in the first 100 ms, before the lock stayed taken; 95 % of the remaining operations took the lock\.$/,
  );
  expect(say('stuck', burst, stepFrame(1.3e6))).toMatch(
    /Of the 3,041 operations during the listing so far, 3,001 came in the first 100 ms/,
  );
  expect(say('stuck', burst, stepFrame(1.1e6))).not.toContain('came in');
  expect(burstWords(burst.lanes[0]!, burst)).toContain(
    'Of the 3,181 operations during the listing',
  );
  expect(burstWords(lockRun().lanes[0]!, lockRun())).toBe('');
});

test('counts say of each figure how it was obtained', () => {
  const { heads, rows, evidence } = counts(run, stepFrame(420), lineLesson);
  expect(evidence).toHaveLength(heads.length);
  expect(
    heads.filter((_, i) => evidence![i] === 'modelled').every((h) => /transfer|model/.test(h)),
  ).toBe(true);
  expect(rows.get('stock')!.slice(0, 5)).toEqual(['4', '2', '2', '60', '20']);
  expect(rows.get('moved')!.slice(0, 3)).toEqual(['2', '2', '0']);
  // All that is written is a read-modify-write: no row says that nothing is written.
  expect(heads.some((head) => head.startsWith('plain writes'))).toBe(false);
  expect(Number(rows.get('stock')!.at(-1))).toBeGreaterThan(Number(rows.get('moved')!.at(-1)));
  const lock = counts(lockRun(), stepFrame(3e6), lineLesson);
  expect(lock.rows.get('moved')).toEqual(['89,000', '3,040', '3.3', '0']);
});

test('until the run is whole no figure is said to be of all of it', () => {
  const coming = lineRun({ letters: 24, stats: 30, coming: true });
  const many = lineRun({ letters: 24, stats: 30, coming: true }, ['stock', 'moved'], {
    model_cpus: 20,
  });
  const frame = stepFrame(400);
  const { heads, rows } = counts(coming, frame, lineLesson);
  for (const [i, head] of heads.entries())
    if (head.includes('whole run')) expect(rows.get('stock')![i]).toBe('still being read');
  expect(say('shared_line', coming, frame)).toMatch(/^24 letters: the run is still being read\. /);
  expect(say('proved', coming, frame)).toMatch(/stock 6\.1 still being read and/);
  expect(say('many', many, frame)).not.toContain('Predicted rate');
  expect(say('price', many, frame)).toBe('No rate is predicted yet: the run is still being read.');
  const texts = [...summary(coming, frame, lineLesson), say('shared_line', coming, frame)];
  expect(texts.join(' ')).not.toContain('whole run');
});

test('counts name the CPUs of the model where the run had others', () => {
  const many = lineRun({ letters: 24, stats: 30 }, ['stock', 'moved'], { model_cpus: 20 });
  const ofMany = counts(many, stepFrame(420), lineLesson).heads;
  expect(ofMany).toContain('transfers per stat on 20 CPUs, in the whole run');
  expect(counts(run, stepFrame(420), lineLesson).heads).toContain(
    'transfers per stat, in the whole run',
  );
});

test('names of 16, 24 and 31 letters have one, two and three words on the line, of 32 none', () => {
  const words = [8, 9, 16, 17, 24, 25, 31].map(
    (letters) => totalsOf(lineRun({ letters, stats: 4 }).lanes[0]!)?.nameReads,
  );
  expect(words).toEqual([0, 1, 1, 2, 2, 3, 3]);
});

test('answers: words of the name, the ratio, the share after the listing', () => {
  const ask = (metric: string, index: RunIndex, arms: [string, string], bounds: number[]) =>
    answers[metric]!(
      index,
      {
        question: '',
        choices: ['a', 'b', 'c', 'd'],
        metric,
        unit: '',
        arms,
        bounds,
        params: {},
        measured_on: null,
        crossing: null,
        judged_when_busy: false,
      },
      lineLesson,
    );
  const words = [0.5, 1.5, 2.5];
  expect(ask('name_reads', run, ['stock', 'stock'], words)).toMatchObject({ value: 2, choice: 2 });
  const short = lineRun({ letters: 8, stats: 4 });
  expect(ask('name_reads', short, ['stock', 'stock'], words)).toMatchObject({
    value: 0,
    choice: 0,
  });
  expect(ask('name_reads', lockRun(), ['moved', 'moved'], words)).toBeNull();
  const predicted = ask('predicted_ratio', run, ['moved', 'stock'], [1])!;
  expect(predicted.value).toBeGreaterThan(1.4);
  expect(predicted.by).toBe('model');
  expect(ask('slow_after', lockRun(), ['moved', 'moved'], [20, 80])).toMatchObject({
    value: 100,
    choice: 2,
  });
});

test('moments: whole stats, past the cold begin, all phases', () => {
  const scene = { moment: '', window_ms: 0, window_steps: 84, operation: 1 };
  expect(moments['one_stat']!(run, scene)).toMatchObject({ start: 0, span: 43_000 });
  expect(moments['warm']!(run, scene)).toMatchObject({ start: 84_000, span: 84_000 });
  const many = { ...run, params: { ...run.params, model_cpus: 20 } };
  expect(moments['warm']!(many, scene)!.start).toBe(21_000 * 200);
  expect(moments['phases']!(lockRun(), { ...scene, window_steps: 0 })).toMatchObject({ span: 3e9 });
  expect(moments['phases']!(run, scene)).toBeNull();
});

test('warm: the figures so far have come near those of the whole run, on each lane', () => {
  const scene = { moment: '', window_ms: 0, window_steps: 84, operation: 1 };
  const long = lineRun({ letters: 24, stats: 400 });
  /** How far the figure so far is from that of the whole run, of the latter. */
  const off = (step: number) =>
    long.lanes.map((lane) => {
      const shown = laneNow({ index: long, frame: stepFrame(step), lesson: lineLesson }, lane);
      const { transfers, ops } = soFar(shown);
      const whole = transfersPerStat(shown.model!);
      return Math.abs(transfers / ops - whole) / whole;
    });
  const start = moments['warm']!(long, scene)!.start / 1000;
  expect(Math.max(...off(84))).toBeGreaterThan(0.15);
  for (let step = start; step < 16_000; step += 210)
    expect(Math.max(...off(step)), `${step}`).toBeLessThan(0.1);
});

test('the table tells at most 50 accesses that are over, each with CPU, field and what moved', () => {
  const rows = nearby(run, stepFrame(30), lineLesson);
  expect(rows).toHaveLength(50);
  expect(rows[0]).toMatchObject({ lane: 'stock 6.1', row: expect.stringMatching(/^line \d, d_/) });
  expect(rows.some(({ what }) => /modelled/.test(what))).toBe(true);
  expect(nearby(lockRun(), stepFrame(3e6), lineLesson).length).toBeLessThanOrEqual(50);
});

test('the window in words', () => {
  expect(summary(run, stepFrame(420), lineLesson)[0]).toMatch(
    /^Stock 6\.1: so far 420 of the [\d,]+ accesses of the whole run, 20 stats, \d+ transfers among 2 CPUs \(MESI, modelled\)\. The name begins at byte 56, the count at 88, in line 1 of 3 lines of 64 bytes\.$/,
  );
});
