// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * The toy of the strip: arrange delayed and written entries, set the budget, and see what a scan achieves on three
 * kernels.
 */

import { t } from '@page/base/lang/t.ts';
import { formatCount } from '@page/base/units.ts';
import type { RunIndex } from '@page/derive/types.ts';
import { capital, list } from '@page/derive/words.ts';
import type { Lesson } from '@page/protocol/lesson.ts';
import type {
  Shelf,
  Tile,
  TileGame,
  TilePlay,
  TileSetting,
  TileToy,
} from '@page/toys/tiles/types.ts';
import type { Face } from '@page/toys/types.ts';
import { blocksOf, factsOf, letterOf } from './replay.ts';

// Scans of one file's entries on three kernels: which entries a scan looks at, which ones it frees, and where it stops.
//
// The model follows es_do_reclaim_extents() and es_reclaim_extents() in fs/ext4/extents_status.c of 6.1, and the
// patches of this lesson. No scan looks into a file that has nothing to free (i_es_shk_nr). Stock pays for each look
// and continues where it last stopped (i_es_shrink_lblk). At the end of the tree a scan of stock wraps around once, and
// then continues up to where it began. The scan of 2013 begins at the left end, pays only for what it frees, and spares
// no entry. The list contains only entries that may be freed, with the newest first.

/**
 * D: a delayed entry, which must stay. W: a written entry, which may be freed. R: a written entry that was used since
 * the last scan, so it is spared once.
 */
export type Entry = 'D' | 'W' | 'R';
export const kernels = ['scan-2013', 'stock', 'evictable-list'] as const;
type Kernel = (typeof kernels)[number];

type Fate = 'kept' | 'spared' | 'freed';

export interface File {
  /** The entries by block; null if an entry is gone. */
  readonly entries: readonly (Entry | null)[];
  /** The block from which the next scan of stock continues. */
  readonly from: number;
}

export interface Scan {
  /** The blocks with their fates, in the order in which the scan looked at the blocks. */
  readonly looks: readonly (readonly [block: number, fate: Fate])[];
  readonly after: File;
}

export function scan(kernel: Kernel, file: File, budget: number): Scan {
  if (reclaimable(file.entries) === 0) return { looks: [], after: file };
  const walk: Walk = { kernel, entries: [...file.entries], looks: [], left: budget };
  if (kernel === 'stock') return { looks: walk.looks, after: round(walk, file.from) };
  const there = blocksIn(walk.entries).filter(
    (b) => kernel === 'scan-2013' || walk.entries[b] !== 'D',
  );
  for (const block of kernel === 'scan-2013' ? there : there.reverse()) {
    if (walk.left <= 0) break;
    look(walk, block);
  }
  return { looks: walk.looks, after: { entries: walk.entries, from: 0 } };
}

interface Walk {
  readonly kernel: Kernel;
  readonly entries: (Entry | null)[];
  readonly looks: [block: number, fate: Fate][];
  /** What is left of the budget. */
  left: number;
}

function blocksIn(entries: readonly (Entry | null)[]): number[] {
  return [...entries.keys()].filter((block) => entries[block] !== null);
}

function look(walk: Walk, block: number): void {
  const { kernel, entries, looks } = walk;
  const entry = entries[block];
  const spares = entry === 'R' && kernel !== 'scan-2013';
  const fate: Fate = entry === 'D' ? 'kept' : spares ? 'spared' : 'freed';
  looks.push([block, fate]);
  if (fate === 'freed') entries[block] = null;
  if (fate === 'spared') entries[block] = 'W';
  if (kernel !== 'scan-2013' || fate === 'freed') walk.left -= 1;
}

/** es_reclaim_extents(): scan to the end of the tree, then from its beginning to where the scan began. */
function round(walk: Walk, start: number): File {
  let { from, over } = stretch(walk, start, Number.POSITIVE_INFINITY);
  if (over && start !== 0) ({ from, over } = stretch(walk, from, start - 1));
  return { entries: walk.entries, from };
}

/**
 * es_do_reclaim_extents() of stock: scan from the first entry at or after `from` up to `end`. Return where to continue,
 * and whether the end was reached.
 */
function stretch(walk: Walk, from: number, end: number): { from: number; over: boolean } {
  const way = blocksIn(walk.entries).filter((block) => block >= from);
  for (const [i, block] of way.entries()) {
    if (walk.left <= 0) return { from: block, over: false };
    if (block > end) return { from: end + 1, over: true };
    look(walk, block);
    if (i === way.length - 1) break;
  }
  return { from: 0, over: true };
}

/** Return the n-th scan, counted from 1, and the file before this scan. */
export function nth(kernel: Kernel, entries: readonly Entry[], budget: number, n: number) {
  let before: File = { entries, from: 0 };
  for (let i = 1; i < n; i++) before = scan(kernel, before, budget).after;
  return { before, ...scan(kernel, before, budget) };
}

export function freedBy({ looks }: Pick<Scan, 'looks'>): number {
  return looks.filter(([, fate]) => fate === 'freed').length;
}

export function reclaimable(entries: readonly (Entry | null)[]): number {
  return entries.filter((entry) => entry === 'W' || entry === 'R').length;
}

// The file with which the toy begins: the recording's entries before its first scan, thinned to this number of boxes.

const boxes = 32;

export interface Thinned {
  readonly entries: readonly Entry[];
  readonly budget: number;
  /** Number of the recording's entries per box; 0 if there is no run, so that the entries are invented. */
  readonly each: number;
}

/** The file that is used if there is no run: the file of the lesson's first step, with one box for sixteen entries. */
const chosen: Thinned = {
  entries: Array.from({ length: boxes }, (_, b) => (b < boxes / 2 ? 'D' : 'W')),
  budget: 2,
  each: 0,
};

export function thinned(index: RunIndex | null): Thinned {
  const lane = index?.lanes[0];
  const blocks = index === null ? [] : Array.from(blocksOf(index));
  const budget = lane === undefined ? 0 : factsOf(lane).budget;
  if (lane === undefined || budget === 0 || blocks.length < boxes) return chosen;
  // The first event of each block says what its entry is.
  const delayed = new Map<number, boolean>();
  for (const name of ['found', 'insert', 'visit']) {
    const { order, length } = lane.pointsOf(name);
    for (let p = 0; p < length; p++) {
      const i = order[p]!;
      const block = lane.points.b[i]!;
      if (!delayed.has(block)) delayed.set(block, letterOf(lane.points.d[i]!) === 1);
    }
  }
  const each = blocks.length / boxes;
  return {
    entries: Array.from({ length: boxes }, (_, b) =>
      delayed.get(blocks[Math.floor((b + 0.5) * each)]!) ? 'D' : 'W',
    ),
    budget: Math.max(1, Math.round(budget / each)),
    each: Math.round(each),
  };
}

const words: Readonly<Record<Entry, string>> = {
  D: t('delayed'),
  W: t('written'),
  R: t('written and in use'),
};
const faces: Readonly<Record<Entry, Face>> = { D: 'work', W: 'other', R: 'mechanism' };
const fateFaces: Readonly<Record<Fate, Face>> = {
  kept: 'vain',
  spared: 'mechanism',
  freed: 'gain',
};
const fateWords: Readonly<Record<Fate, string>> = {
  kept: t('looked at in vain'),
  spared: t('spared once'),
  freed: t('freed'),
};
/** A scan counts as long if it looks at this many entries or more for each entry that it frees. */
const long = 8;

interface Turn {
  readonly kernel: Kernel;
  readonly title: string;
  readonly before: readonly (Entry | null)[];
  readonly looks: readonly (readonly [number, Fate])[];
  readonly freed: number;
}

export function entriesOf({ order, marks }: TileSetting): Entry[] {
  return order.map((id) => marks[id] as Entry);
}

export function settingOf(entries: readonly Entry[], budget: number, asked = 1): TileSetting {
  const order = entries.map((_, block) => `${block}`);
  const marks = Object.fromEntries(order.map((id, block) => [id, entries[block]!]));
  return { order, marks, amounts: { budget, asked } };
}

function turnsOf(setting: TileSetting, titles: Titles): Turn[] {
  const { budget, asked } = setting.amounts as { budget: number; asked: number };
  const entries = entriesOf(setting);
  return kernels.map((kernel) => {
    const turn = nth(kernel, entries, budget, asked);
    const { looks, before } = turn;
    return { kernel, title: titles[kernel], before: before.entries, looks, freed: freedBy(turn) };
  });
}

type Titles = Readonly<Record<Kernel, string>>;

function titlesOf({ arms }: Pick<Lesson, 'arms'>): Titles {
  const title = (kernel: Kernel) => arms.find(({ name }) => name === kernel)?.title ?? kernel;
  return Object.fromEntries(kernels.map((kernel) => [kernel, title(kernel)])) as Titles;
}

function boxOf(block: number, entry: Entry | null, fate: Fate | null): Tile {
  const what = entry === null ? t('gone') : words[entry];
  return {
    id: `${block}`,
    says:
      fate === null
        ? t('block {block}, {what}', { block, what })
        : t('block {block}, {what}, {fate}', { block, what, fate: fateWords[fate] }),
    parts: [
      {
        size: 1,
        label: entry ?? '',
        face: fate === null ? (entry === null ? 'idle' : faces[entry]) : fateFaces[fate],
        look: entry === null ? 'hollow' : fate === 'kept' ? 'hatched' : 'solid',
      },
    ],
  };
}

function shelfOf({ kernel, title, before, looks, freed }: Turn, asked: number): Shelf {
  const fates = new Map(looks);
  const nothing = reclaimable(before) === 0;
  const verdict = nothing
    ? t('no entry may be freed here, so the scan looks at none')
    : t('scan {asked} looks at {n, plural, one {# entry} other {# entries}} and frees {freed}', {
        ...{ asked, n: looks.length, freed },
      });
  const face = nothing ? 'other' : freed === 0 ? 'hazard' : looks.length > freed ? 'wait' : 'gain';
  return {
    name: kernel,
    title,
    verdict,
    face,
    cells: boxes,
    folds: 2,
    tiles: before.map((entry, block) => boxOf(block, entry, fates.get(block) ?? null)),
  };
}

function play(setting: TileSetting, titles: Titles): TilePlay {
  const { asked } = setting.amounts as { asked: number };
  const turns = turnsOf(setting, titles);
  const entries = entriesOf(setting);
  return {
    shelf: {
      name: 'file',
      title: t('Your file'),
      verdict: t('{delayed} delayed, {others} that may be freed', {
        delayed: boxes - reclaimable(entries),
        others: reclaimable(entries),
      }),
      cells: boxes,
      folds: 2,
      tiles: entries.map((entry, block) => boxOf(block, entry, null)),
    },
    results: turns.map((turn) => shelfOf(turn, asked)),
    barsTitle: t("Wait of a task that wants the file's lock during the scan"),
    bars: turns.map(({ kernel, title, looks, freed }) => ({
      name: kernel,
      title,
      value: looks.length,
      words: t('{n, plural, one {# look} other {# looks}}, {vain} of them in vain', {
        n: looks.length,
        vain: looks.length - freed,
      }),
      face: looks.length > freed ? 'wait' : 'gain',
    })),
    outcome: outcome(turns),
    reached: reached(turns),
  };
}

function reached(turns: readonly Turn[]): string[] {
  const [old, stock, list_] = turns as [Turn, Turn, Turn];
  const waits = ({ looks, freed }: Turn) => looks.length > freed;
  return [
    ...(stock.looks.length > 0 && stock.freed === 0 ? ['empty'] : []),
    ...(old.freed > 0 && old.looks.length >= long * old.freed ? ['long'] : []),
    ...(turns.every((turn) => turn.freed > 0 && !waits(turn)) ? ['nobody'] : []),
    ...(stock.freed > list_.freed && list_.looks.length > 0 ? ['second'] : []),
  ];
}

function outcome(turns: readonly Turn[]): TilePlay['outcome'] {
  const [old, stock] = turns as [Turn, Turn, Turn];
  const empty = turns.filter(({ looks, freed }) => looks.length > 0 && freed === 0);
  const vain = turns.filter(({ looks, freed }) => looks.length > freed && freed > 0);
  if (turns.every(({ looks }) => looks.length === 0))
    return { words: t('No entry may be freed, so no kernel looks at any entry.'), face: 'other' };
  if (empty.length > 0) {
    const names = list(empty.map(({ title }) => title));
    const more =
      old.freed > 0
        ? t(' {title} frees {freed} with {n, plural, one {# look} other {# looks}}.', {
            title: capital(old.title),
            freed: old.freed,
            n: old.looks.length,
          })
        : '';
    const bound = empty.includes(stock)
      ? t(" The scan's budget of {n} looks is spent.", { n: formatCount(stock.looks.length) })
      : '';
    return {
      words: t('On {names}, this scan frees nothing.{bound}{more}', { names, bound, more }),
      face: 'hazard',
    };
  }
  if (vain.length > 0) {
    const most = vain.reduce((a, b) =>
      b.looks.length - b.freed > a.looks.length - a.freed ? b : a,
    );
    const n = most.looks.length - most.freed;
    return {
      words: t(
        'On {title}, a task that wants the lock waits in vain for {n, plural, one {# look} other {# looks}}.',
        { title: most.title, n },
      ),
      face: 'wait',
    };
  }
  return { words: t('Every look frees an entry, so no task waits in vain.'), face: 'gain' };
}

/** Mix the entries: keep the number of each kind, and spread each kind evenly. */
export function mixed(entries: readonly Entry[]): Entry[] {
  const kept = entries.filter((entry) => entry === 'D').length;
  const before = (b: number) => Math.ceil((b * kept) / entries.length);
  return entries.map((_, b) => (before(b + 1) > before(b) ? 'D' : 'W'));
}

/** Return the number of stock's first scan that frees an entry, counted from 1; 0 if no scan does. */
export function firstGain(entries: readonly Entry[], budget: number): number {
  let file: { entries: readonly (Entry | null)[]; from: number } = { entries, from: 0 };
  for (let n = 1; n <= 2 * entries.length + 1; n++) {
    const turn = scan('stock', file, budget);
    if (freedBy(turn) > 0) return n;
    file = turn.after;
  }
  return 0;
}

export const budget: TileToy = {
  form: 'tiles',
  title: t('What a budget buys'),
  ask: t(
    'Memory runs short, and the kernel asks for a scan. Arrange delayed and written entries, give the scan a budget, and ask again and again. Which entries does the scan look at, which entries does it free, and how long does a task that wants the lock have to wait?',
  ),
  leavesOut: t(
    'There is one file. Between scans no block is looked up, and the written entries were made from left to right, so the list begins at the right.',
  ),
  hand: [
    { mark: 'D', title: words.D },
    { mark: 'W', title: words.W },
    { mark: 'R', title: words.R },
  ],
  open(index, lesson): TileGame {
    const titles = titlesOf(lesson);
    const { entries, budget: nr, each } = thinned(index);
    const goal = (name: string, title: string, can: () => string) => ({ name, title, can });
    const recorded = settingOf(entries, nr);
    const start = settingOf(mixed(entries), nr);
    return {
      from:
        each === 0
          ? null
          : t(
              'the numbers of delayed and written entries and the budget, with one box for {each}; the entries are mixed until you press "as recorded"',
              { each },
            ),
      start,
      amounts: [
        {
          name: 'budget',
          title: t('budget'),
          min: 1,
          max: 16,
          step: 1,
          words: (n) => t('{n} of {boxes}', { n, boxes }),
        },
        {
          name: 'asked',
          title: t('scan'),
          min: 1,
          max: 24,
          step: 1,
          words: (n) => ordinal(n),
        },
      ],
      presets: [
        { title: each === 0 ? t('as in the first step') : t('as recorded'), setting: recorded },
        { title: t('mixed'), setting: start },
      ],
      play: (setting) => play(setting, titles),
      goals: [
        goal(
          'empty',
          t('On {stock}, arrange a scan that frees nothing, though some entries may be freed.', {
            stock: titles.stock,
          }),
          () =>
            t("Yes: put a delayed entry in the scan's way for each look that its budget allows."),
        ),
        goal(
          'long',
          t(
            'On {title}, arrange a scan that looks at {long} entries or more for each entry that it frees.',
            {
              title: titles['scan-2013'],
              long,
            },
          ),
          () =>
            t('Yes: the scan of 2013 pays only for freed entries, so nothing limits its looks.'),
        ),
        goal(
          'nobody',
          t(
            'Arrange the entries so that on all three kernels each look frees an entry and no task waits in vain.',
          ),
          () =>
            t(
              'Yes: the entries that may be freed must be on the left, and none may have been used since the last scan.',
            ),
        ),
        goal(
          'second',
          t('Arrange a scan in which {stock} frees more than the {title}.', {
            stock: titles.stock,
            title: titles['evictable-list'],
          }),
          () =>
            t(
              'Yes: an entry that was used since the last scan is spared once, and the list begins at the right.',
            ),
        ),
        goal(
          'never',
          t(
            'Arrange a file from which {stock} never frees anything, though some entries may be freed.',
            {
              stock: titles.stock,
            },
          ),
          () =>
            t(
              'No: each scan continues where the last one stopped. With a budget of {nr} every entry is passed twice within {n, plural, one {# scan} other {# scans}}, and an entry is spared only once. In your first file, scan {first} frees an entry.',
              { nr, n: 2 * Math.ceil(boxes / nr), first: firstGain(entries, nr) },
            ),
        ),
      ],
    };
  },
};

function ordinal(n: number): string {
  return t(
    'the {n, plural, =1 {first} =2 {second} =3 {third} =4 {fourth} =5 {fifth} =6 {sixth} =7 {seventh} =8 {eighth} =9 {ninth} other {#th}}',
    { n },
  );
}
