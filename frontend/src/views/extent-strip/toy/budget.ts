// SPDX-License-Identifier: GPL-2.0-or-later
/** The toy of the strip: arrange delayed and written entries, give the budget, and see what a scan gets on three kernels. */

import { t } from '../../../base/lang/t.ts';
import { formatCount } from '../../../base/units.ts';
import { capital, list } from '../../../derive/words.ts';
import type { Lesson } from '../../../protocol/lesson.ts';
import type {
  Shelf,
  Tile,
  TileGame,
  TilePlay,
  TileSetting,
  TileToy,
} from '../../../toys/tiles/types.ts';
import type { Face } from '../../../toys/types.ts';
import {
  type Entry,
  type Fate,
  freedBy,
  type Kernel,
  kernels,
  nth,
  reclaimable,
  scan,
} from './rule.ts';
import { boxes, thinned } from './thin.ts';

const words: Readonly<Record<Entry, string>> = {
  D: t('delayed'),
  W: t('written'),
  R: t('written and used since'),
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
/** A scan is long that looks at so many entries for each that it frees. */
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
    ? t('nothing may be freed here, and it does not look')
    : t('scan {asked} looks at {n} and frees {freed}', { asked, n: looks.length, freed });
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
    barsTitle: t("Who wants the file's lock meanwhile waits for"),
    bars: turns.map(({ kernel, title, looks, freed }) => ({
      name: kernel,
      title,
      value: looks.length,
      words: t('{n, plural, one {# look} other {# looks}}, of them {vain} in vain', {
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
    return { words: t('Nothing may be freed. No kernel looks at a single entry.'), face: 'other' };
  if (empty.length > 0) {
    const names = list(empty.map(({ title }) => title));
    const more =
      old.freed > 0
        ? t(' {title} frees {freed} for {n, plural, one {# look} other {# looks}}.', {
            title: capital(old.title),
            freed: old.freed,
            n: old.looks.length,
          })
        : '';
    const bound = empty.includes(stock)
      ? t(' Its budget of {n} looks is spent.', { n: formatCount(stock.looks.length) })
      : '';
    return {
      words: t('A scan that frees nothing, on {names}.{bound}{more}', { names, bound, more }),
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
        'On {title} whoever wants the lock waits for {n, plural, one {# look} other {# looks}} in vain.',
        { title: most.title, n },
      ),
      face: 'wait',
    };
  }
  return { words: t('Every look frees an entry. Nobody waits in vain.'), face: 'gain' };
}

/** As many of each kind, spread evenly. */
export function mixed(entries: readonly Entry[]): Entry[] {
  const kept = entries.filter((entry) => entry === 'D').length;
  const before = (b: number) => Math.ceil((b * kept) / entries.length);
  return entries.map((_, b) => (before(b + 1) > before(b) ? 'D' : 'W'));
}

/** Scans of stock from the start until one frees something. */
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
    'Memory runs short, and a scan is asked for entries. Arrange delayed and written ones, give it a budget, and ask again and again: which does it look at, which does it free, and how long has whoever wants the lock to wait?',
  ),
  leavesOut: t(
    'One file; nothing is looked up again between scans, and written entries were made from left to right, so the list begins at the right.',
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
              'how many entries are delayed and written, and the budget, one box for {each}; mixed, until you press "as recorded"',
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
          t('On {stock}, a scan that frees nothing, though something may be freed.', {
            stock: titles.stock,
          }),
          () => t('Yes: give it as many delayed entries on its way as its budget has looks.'),
        ),
        goal(
          'long',
          t('On {title}, a scan that looks at {long} entries or more for each that it frees.', {
            title: titles['scan-2013'],
            long,
          }),
          () => t('Yes: it pays for gains alone, so nothing bounds its looks.'),
        ),
        goal('nobody', t('Make nobody wait in vain: on all three each look frees an entry.'), () =>
          t(
            'Yes: what may be freed must lie on the left, and none of it may have been used since.',
          ),
        ),
        goal(
          'second',
          t('A scan in which {stock} frees more than the {title}.', {
            stock: titles.stock,
            title: titles['evictable-list'],
          }),
          () =>
            t(
              'Yes: an entry that was used since is spared once, and the list begins at the right.',
            ),
        ),
        goal(
          'never',
          t('A file from which {stock} frees nothing for ever, though something may be freed.', {
            stock: titles.stock,
          }),
          () =>
            t(
              'No: it goes on where it stopped, so with a budget of {nr} it has been everywhere twice after {n, plural, one {# scan} other {# scans}}, and an entry is spared only once. Of your first file it frees something in scan {first}.',
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
