// @vitest-environment happy-dom
// SPDX-License-Identifier: GPL-2.0-or-later
/** Any object of any lesson: what is shown is its own, and what is not known is refused with a sentence. */

import { lightTheme } from '@page/base/theme.ts';
import type { RunIndex } from '@page/derive/types.ts';
import type { PanelProps } from '@page/views/contract.ts';
import { namedTiles } from '@page/views/paints.ts';
import { lineLesson, lineRun, stepFrame } from '@test/fixtures/cachelines.ts';
import { counterRun, openLesson, type Run, type Shape } from '@test/fixtures/counters.ts';
import { recordingPen } from '@test/fixtures/pen.ts';
import { cleanup, render, screen } from '@testing-library/react';
import { afterEach, describe, expect, it } from 'vitest';
import { answers, counts } from './answers.ts';
import { totalsOf } from './counted.ts';
import { structOf } from './fields.ts';
import { view } from './index.tsx';
import { ModelPanel } from './model-panel.tsx';
import { laneNow } from './now.ts';
import { CountedPanel } from './panels.tsx';
import { sentences, summary } from './words.ts';

afterEach(cleanup);

/** A counter of eight bytes in the middle of a line, with a neighbour that is read. */
const counter: Shape = {
  address: 0x82000028,
  size: 8,
  fields: [['nr_files', 0, 8]],
  accesses: [
    [0, 8, 2],
    [-8, 8, 0],
    [0, 8, 0],
  ],
};
/** Five lines; an access over a line's end; the last line is written most. */
const table: Shape = {
  address: 0x888001234040,
  size: 300,
  fields: [
    ['lock', 0, 4],
    ['slots', 8, 256],
    ['used', 296, 4],
  ],
  accesses: [
    [0, 4, 2],
    [60, 8, 0],
    [296, 4, 1],
    [296, 4, 1],
    [100, 8, 0],
  ],
};
const shapes: readonly (readonly [string, Run, number])[] = [
  ['one line', { shape: counter, ops: 20 }, 1],
  ['five lines', { shape: table, ops: 20 }, 5],
];
const size = { width: 1200, height: 700, dpr: 1 };

function drawn(index: RunIndex): string {
  const drawing = { index, frame: stepFrame(30), size, lesson: openLesson, theme: lightTheme };
  const artist = view.artist(openLesson);
  const { pen, log } = recordingPen();
  artist.draw(pen, artist.layout(drawing, 34, 13), drawing, null, namedTiles);
  return log.flatMap(({ what, text }) => (what === 'fillText' ? [text] : [])).join(' | ');
}

function said(index: RunIndex): string {
  const all = Object.values(sentences).map((one) => one(index, stepFrame(30), openLesson));
  return [...all, ...summary(index, stepFrame(30), openLesson)].join(' | ');
}

function paneled(index: RunIndex, Body = CountedPanel): string {
  const props = { runIndex: index, lesson: openLesson, theme: lightTheme } as unknown as PanelProps;
  const { container, unmount } = render(<Body {...props} />);
  const text = container.textContent ?? '';
  unmount();
  return text;
}

const strange = /dentry|d_lockref|d_iname|\bstats?\b|letters|the name|line -1|NaN|undefined|null/;

describe.each(shapes)('%s', (_, run, lines) => {
  const index = counterRun(run);

  it('has its own lines and nouns, and nothing of another lesson', () => {
    expect(structOf(index.lanes[0]!)!.lines).toBe(lines);
    const { model } = laneNow({ index, frame: stepFrame(30), lesson: openLesson }, index.lanes[0]!);
    expect(model!.trace.log.lines).toBe(lines);
    for (const text of [drawn(index), said(index), paneled(index)]) {
      expect(text).not.toMatch(strange);
      expect(text).toContain('open');
    }
    expect(drawn(index)).toContain(`line ${lines - 1}`);
    expect(drawn(index)).not.toContain(`line ${lines} `);
  });

  it('predicts no rate, since the model knows nothing of its functions', () => {
    expect(paneled(index, ModelPanel as typeof CountedPanel)).toMatch(/^No rate is predicted: /);
    expect(answers['name_reads']!(index, prediction, openLesson)).toBeNull();
    expect(answers['predicted_ratio']!(index, prediction, openLesson)).toBeNull();
  });
});

const prediction = {
  ...{ question: '', choices: ['a', 'b'], metric: 'name_reads', unit: '', params: {} },
  ...{
    arms: ['stock', 'moved'] as [string, string],
    bounds: [1],
    measured_on: null,
    crossing: null,
    judged_when_busy: false,
  },
};

it('counts the line that is written most, whatever it is called', () => {
  const one = counterRun({ shape: counter, ops: 20 });
  const { hot } = totalsOf(one.lanes[0]!)!;
  expect(hot).toEqual({ reads: 2, writes: 0, rmws: 1 });
  expect(structOf(one.lanes[0]!)!.hot).toMatchObject({ line: 0, words: 'nr_files' });
  expect(said(one)).toContain('2 reads and 1 read-modify-writes of the line of nr_files (line 0)');
  expect(said(one)).toContain('The nr_files begins at byte 0 on one counter and 0 on per CPU');
  expect(paneled(one)).toContain('other data on the line');
  const { heads, rows } = counts(one, stepFrame(30), openLesson);
  expect(heads[0]).toBe('reads of the line of nr_files per open, in the whole run');
  expect(rows.get('stock')).toHaveLength(heads.length);
  const many = counterRun({ shape: table, ops: 20 });
  expect(structOf(many.lanes[0]!)!.hot).toMatchObject({ line: 4, words: 'used' });
  expect(said(many)).toMatch(/0 reads, 2 writes and 0 read-modify-writes of .*\(line 4\)/);
});

const slept = { ops: 0, ops_ended: 0, ops_touching: 0, ops_begun: 1047, ops_broken: 1047 };
const refusals: readonly (readonly [string, Partial<Run>, RegExp])[] = [
  [
    'no whole operation',
    { facts: { ...slept, ops_left: 1047 } },
    /The microscope saw none of 1,047 opens end: 1,047 left by a jump to another function\. So there are no numbers per open/,
  ],
  [
    'no operation',
    { facts: { ...slept, ops_begun: 0, ops_broken: 0 } },
    /The microscope saw no open beg/,
  ],
  [
    'none that touches it',
    { facts: { ops_touching: 0 } },
    /None of 40 opens touched the files_stat_struct\./,
  ],
  ['no counts', { counted: false }, /No access to the files_stat_struct has been counted yet/],
  ['no object', { facts: { ops_touching: 0, size: 0 } }, /watched no object in this run/],
];

it.each(refusals)('%s: refused with a sentence, not with zeros', (_, change, why) => {
  const index = counterRun({ shape: counter, ops: 20, ...change });
  for (const text of [drawn(index), said(index), paneled(index)]) {
    expect(text).toMatch(why);
    expect(text).not.toMatch(strange);
    expect(text).not.toMatch(/\b0 read|, counted|modelled/);
  }
  expect(counts(index, stepFrame(30), openLesson).rows.get('stock')).toEqual([]);
});

it('an object that was not found has counts by line, and no field is named', () => {
  const index = counterRun({ shape: table, ops: 20, found: false });
  expect(drawn(index)).toContain('The x-ray has not found the files_stat_struct');
  for (const text of [drawn(index), said(index), paneled(index)]) {
    expect(text).not.toMatch(strange);
    expect(text).not.toMatch(/\b0 read/);
  }
  expect(totalsOf(index.lanes[0]!)!.hot).toBeNull();
});

it('one that nobody writes has no line that everybody writes', () => {
  const reads = {
    ...table,
    accesses: table.accesses.map(([at, bytes]) => [at, bytes, 0] as const),
  };
  const index = counterRun({ shape: reads, ops: 20 });
  expect(drawn(index)).toContain('No open writes to the 5 lines of the files_stat_struct.');
  expect(drawn(index)).not.toMatch(/\b0 read/);
});

it('on an axis of time without counts of lockrefs, says that there is nothing to draw', () => {
  const lines = lineRun({ letters: 8, stats: 4 });
  const index = { ...lines, axis: null };
  expect(sentences['stuck']!(index, stepFrame(0), lineLesson)).toMatch(/there is nothing to draw/);
  expect(drawn(index)).toMatch(/there is nothing to draw/);
  expect(screen.queryByText('0 %')).toBeNull();
});
