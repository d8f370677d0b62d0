// SPDX-License-Identifier: GPL-2.0-or-later
/** Tests windows that show what a step must show. The server's lint is tested with the same cases. */

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { testLesson } from '../../test/fixtures/lesson.ts';
import {
  laneMessage,
  linkBatch,
  opBatch,
  pointBatch,
  runMessage,
  spanBatch,
} from '../../test/fixtures/messages.ts';
import type { Sought } from '../protocol/contract.gen.ts';
import type { Lesson } from '../protocol/lesson.ts';
import { Store } from '../store/store.ts';
import { indexRun } from './run-index.ts';
import { type Claimed, claimedPlace, Search, unseenWords } from './sought.ts';
import type { RunIndex } from './types.ts';

type Named = readonly [string, ...number[]];

interface LaneTree {
  readonly threads: number;
  readonly end: number;
  readonly spans: readonly (readonly [string, number, number, number])[];
  readonly ops: readonly (readonly [number, number])[];
  readonly links: readonly Named[];
  readonly points: readonly Named[];
  /** Samples of the probe "counts": the time of each sample, and its facts. */
  readonly looks?: readonly (readonly [number, Readonly<Record<string, number>>])[];
}

interface Case {
  readonly name: string;
  readonly run: string;
  readonly axis?: string;
  readonly scene: Partial<Claimed>;
  readonly marks: readonly Partial<Sought>[];
  readonly shown: readonly (readonly [number, number])[];
}

interface Cases {
  readonly hz: number;
  readonly kinds: readonly (readonly [string, Lesson['kinds'][number]['layer']])[];
  readonly points: readonly (readonly [string, string[]])[];
  readonly links: readonly string[];
  readonly runs: Readonly<Record<string, Readonly<Record<string, LaneTree>>>>;
  readonly cases: readonly Case[];
}

const file = new URL('../../../tests/fixtures/sought.json', import.meta.url);
const { runs, cases, ...given } = JSON.parse(readFileSync(file, 'utf8')) as Cases;
const ms = 1e6;

const lesson: Lesson = {
  ...testLesson,
  hz: given.hz,
  kinds: given.kinds.map(([name, layer]) => ({ ...testLesson.kinds[0]!, name, layer })),
  points: given.points.map(([name, fields]) => {
    return { name, fields, title: name, probe: null, lens: null };
  }),
  links: given.links.map((name) => ({ ...testLesson.links[0]!, name })),
};

function lessonOf(axis: string | undefined): Lesson {
  if (axis === undefined) return lesson;
  return {
    ...lesson,
    axis: { point: axis, title: axis, unit: axis, plural: `${axis}s`, workloads: [] },
  };
}

function indexOf(run: string, axis?: string, phase: 'done' | 'running' = 'done'): RunIndex {
  const store = new Store();
  const runId = 'one';
  const lanes = runs[run]!;
  store.lesson.set(lesson);
  const source = phase === 'done' ? 'recorded' : 'live';
  store.dispatch(runMessage(runId, Object.keys(lanes), phase, source));
  const at = (names: readonly string[], name: string) => names.indexOf(name);
  for (const [arm, tree] of Object.entries(lanes)) {
    store.dispatch(laneMessage(runId, arm, phase));
    const rows = Array.from({ length: tree.threads }, (_, row) => {
      return { row, tid: row + 1, name: `one-${row}`, role: 'thread' as const };
    });
    store.dispatch({ type: 'rows', run_id: runId, arm, rows });
    const head = { runId, arm, seq: 0, watermark: tree.end * ms };
    const kinds = given.kinds.map(([name]) => name);
    const points = given.points.map(([name]) => name);
    const spans = tree.spans.toSorted((a, b) => a[3] - b[3]);
    store.dispatch(
      spanBatch(
        head,
        spans.map(([kind, row, t0, t1]) => {
          return { t0: t0 * ms, t1: t1 * ms, row, kind: at(kinds, kind) };
        }),
      ),
    );
    store.dispatch(
      opBatch(
        head,
        tree.ops.map(([t0, t1]) => ({ t0: t0 * ms, t1: t1 * ms, row: 0 })),
      ),
    );
    store.dispatch(
      linkBatch(
        head,
        tree.links.map(([name, t]) => ({
          ...{ t: t! * ms, from: 0, to: 0 },
          kind: at(given.links, name),
        })),
      ),
    );
    store.dispatch(
      pointBatch(
        head,
        tree.points.map(([name, t, ...values]) => {
          return { t: t! * ms, kind: at(points, name), values };
        }),
      ),
    );
    for (const [seq, [t, facts]] of (tree.looks ?? []).entries())
      store.dispatch({
        ...{ type: 'sample', run_id: runId, arm, probe: 'counts', seq, t_ns: t * ms, error_ns: 0 },
        ...{ clock: 'host', took_ns: 0, torn: 0, failed: 0, n: 0, columns: {}, texts: [], facts },
      });
  }
  return indexRun(store.shown()!, lessonOf(axis));
}

const plain: Sought = {
  ...{ kind: null, point: null, link: null, operation: false, looks: null, arms: [] },
  ...{ where: {}, among: [], during: null },
  ...{
    at_once: 1,
    whole: false,
    longer_ms: 0,
    at_least: null,
    at_most: null,
    most: false,
    opens: false,
  },
};

function sceneOf({ run, scene, marks }: Case): Claimed & { readonly focus: string[] } {
  return {
    ...{ moment: 'newest', window_ms: 0, window_steps: 0, operation: 1, align: 'time' },
    ...{ show: [], focus: [], arms: Object.keys(runs[run]!) },
    ...scene,
    must_show: { that: 'it is so', marks: marks.map((one) => ({ ...plain, ...one })) },
  };
}

test.each(cases)('$name', (one) => {
  const search = new Search(indexOf(one.run, one.axis), sceneOf(one), lesson);
  const found = search.asks
    ? search
        .windows()
        .map((window) => ({ window, amount: search.amount(window) }))
        .filter(({ amount }) => amount >= 0)
        .sort((a, b) => b.amount - a.amount || a.window.start - b.window.start)
    : [];
  const shown = found.map(({ window, amount }) => [
    Number((window.start / ms).toFixed(6)),
    Number(amount.toFixed(3)),
  ]);
  expect(shown).toEqual(one.shown);
});

const named = (name: string) => cases.find((one) => one.name === name)!;

test('a step opens at a window that shows its claim, and stays there', () => {
  const one = named('both threads wait at once');
  const { place, shown } = claimedPlace(indexOf(one.run), sceneOf(one), lesson);
  expect([shown, place.start / ms, place.follows]).toEqual([true, 4, false]);
});

test('a step begins to play a twenty-fifth of its window before what opens it', () => {
  const one = named('both threads wait at once');
  const plainly = sceneOf(one);
  const marks = plainly.must_show!.marks.map((mark) => ({ ...mark, opens: true }));
  const scene = { ...plainly, must_show: { that: 'it is so', marks } };
  const { start, span, begin } = claimedPlace(indexOf(one.run), scene, lesson).place;
  const both = new Search(indexOf(one.run), scene, lesson).opening({ start, span })!;
  expect(both).toBeGreaterThanOrEqual(start);
  expect(begin).toBe(Math.max(start, both - span / 25));
  expect(claimedPlace(indexOf(one.run), sceneOf(one), lesson).place.begin).toBeUndefined();
});

test('the own moment of the step is taken where it shows the claim', () => {
  const one = named('both threads wait at once');
  const scene = { ...sceneOf(one), moment: 'mine' };
  const marks = scene.must_show!.marks.map((mark) => ({ ...mark, most: false }));
  const mine = (start: number) => ({
    mine: () =>
      ({ ...{ start, span: 8 * ms, moment: start }, follows: true, known: true }) as never,
  });
  const at = (start: number) =>
    claimedPlace(
      indexOf(one.run),
      { ...scene, must_show: { that: 'so', marks } },
      lesson,
      mine(start * ms),
    ).place.start / ms;
  expect(at(1.5)).toBe(1.5);
  expect(at(30)).not.toBe(30);
});

test('a run without such a window says so in one sentence, and shows its usual window', () => {
  const one = { ...named('both threads wait at once'), marks: [{ kind: 'wait', at_least: 9 }] };
  const index = indexOf(one.run);
  const { place, shown } = claimedPlace(index, sceneOf(one), lesson);
  expect(shown).toBe(false);
  expect(place.known).toBe(true);
  expect(unseenWords(index, sceneOf(one), lesson)).toBe(
    'No window of 8 ms in this run shows that it is so. The usual window of the run is shown.',
  );
  const given = { ...sceneOf(one), moment: 'start' };
  expect(unseenWords(index, given, lesson)).toBe('This run does not show that it is so.');
});

test('nothing is said while a run goes on', () => {
  const one = { ...named('both threads wait at once'), marks: [{ kind: 'wait', at_least: 9 }] };
  expect(unseenWords(indexOf(one.run, undefined, 'running'), sceneOf(one), lesson)).toBe('');
});
