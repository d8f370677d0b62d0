// SPDX-License-Identifier: GPL-2.0-or-later
/** The toy of the lesson: a memory of sixteen pages, a hot file, a scan, and two policies that evict. */

import { t } from '@page/base/lang/t.ts';
import type { Lesson } from '@page/protocol/lesson.ts';
import type {
  Shelf,
  Tile,
  TileGame,
  TilePlay,
  TileSetting,
  TileToy,
} from '@page/toys/tiles/types.ts';

// A model of eviction with single pages. The hot process uses its pages through a mapping, and the scan calls read().
//
// The two lists follow shrink_active_list(), folio_check_references() and workingset_refault() in mm of 7.3: the active
// list is made smaller while it is longer than the inactive list, a used page is spared once and activated at the
// second time, and a page that comes back soon is activated at once. Generations follow lru_gen_folio_seq(),
// sort_folio() and inc_max_seq(): pages of the scan begin in the oldest generation, pages of the mapping above it.

/** Pages that fit into memory, and pages of the file. */
export const room = 16;
/** Rounds before the first scan, and rounds in all. */
const warm = 2;
const rounds = 10;

export const policies = ['lists', 'generations'] as const;
type Policy = (typeof policies)[number];

interface Page {
  readonly id: number;
  readonly hot: boolean;
  /** The accessed bit. */
  used: boolean;
  /** Whether reclaim has seen the page used before. */
  seen: boolean;
}

interface Memory {
  has(id: number): Page | undefined;
  /** Put a page into memory, and evict another page if memory is full. */
  add(page: Page): void;
  pages(): readonly Page[];
}

function twoLists(): Memory {
  const active: Page[] = [];
  const inactive: Page[] = [];
  const evictedAt = new Map<number, number>();
  let evictions = 0;
  const makeRoom = () => {
    while (active.length + inactive.length >= room) {
      if (active.length > inactive.length) {
        const page = active.pop()!;
        page.used = false;
        inactive.unshift(page);
        continue;
      }
      const page = inactive.pop()!;
      if (!page.used) {
        evictions += 1;
        evictedAt.set(page.id, evictions);
        return;
      }
      page.used = false;
      if (page.seen) active.unshift(page);
      else inactive.unshift(page);
      page.seen = true;
    }
  };
  return {
    has: (id) => [...active, ...inactive].find((page) => page.id === id),
    add(page) {
      makeRoom();
      const gone = evictedAt.get(page.id);
      const soon = gone !== undefined && evictions - gone <= active.length;
      (soon ? active : inactive).unshift(page);
    },
    pages: () => [...active, ...inactive],
  };
}

function generations(): Memory {
  let oldest: Page[] = [];
  let second: Page[] = [];
  let youngest: Page[] = [];
  const age = () => {
    const used = [...youngest, ...second].filter((page) => page.used);
    const idle = [...youngest, ...second].filter((page) => !page.used);
    for (const page of used) page.used = false;
    [oldest, second, youngest] = [idle, [], used];
    if (oldest.length === 0) [oldest, youngest] = [youngest, []];
  };
  const makeRoom = () => {
    while (oldest.length + second.length + youngest.length >= room) {
      if (oldest.length === 0) age();
      const page = oldest.pop()!;
      if (!page.used) return;
      page.used = false;
      second.unshift(page);
    }
  };
  return {
    has: (id) => [...oldest, ...second, ...youngest].find((page) => page.id === id),
    add(page) {
      makeRoom();
      (page.hot ? second : oldest).unshift(page);
    },
    pages: () => [...youngest, ...second, ...oldest],
  };
}

export interface Outcome {
  /** Hot pages that the last round read again. */
  readonly again: number;
  /** Pages in memory after the last scan, the safest first: whether each is hot. */
  readonly kept: readonly boolean[];
}

/** Play all rounds on one policy, with so many hot pages and so many pages of the scan a round. */
export function outcomeOf(policy: Policy, hot: number, scan: number): Outcome {
  const memory = policy === 'lists' ? twoLists() : generations();
  let next = room;
  let again = 0;
  for (let round = 0; round < rounds; round++) {
    again = 0;
    for (let id = 0; id < hot; id++) {
      const page = memory.has(id);
      if (page !== undefined) page.used = true;
      else {
        again += 1;
        memory.add({ id, hot: true, used: true, seen: false });
      }
    }
    for (let n = 0; round >= warm && n < scan; n++)
      memory.add({ id: next++, hot: false, used: false, seen: false });
  }
  return { again, kept: memory.pages().map((page) => page.hot) };
}

const hotTitle = t('used in each round');
const idleTitle = t('not used');

function settingOf(hot: number, scan: number): TileSetting {
  const order = Array.from({ length: room }, (_, id) => `${id}`);
  const marks = Object.fromEntries(order.map((id, n) => [id, n < hot ? 'H' : 'N']));
  return { order, marks, amounts: { scan } };
}

function tile(id: string, says: string, label: string, face: 'work' | 'other' | 'idle'): Tile {
  return {
    id,
    says,
    parts: [{ size: 1, label, face, look: face === 'idle' ? 'hollow' : 'solid' }],
  };
}

function shelfOf(policy: Policy, title: string, hot: number, { again, kept }: Outcome): Shelf {
  return {
    name: policy,
    title,
    verdict: t('{again} of {hot} hot pages are read from the disk again in each round', {
      again,
      hot,
    }),
    face: again === 0 ? 'gain' : 'hazard',
    cells: room,
    folds: 2,
    tiles: Array.from({ length: room }, (_, n) => {
      const is = kept[n];
      if (is === undefined) return tile(`${n}`, t('place {n}, empty', { n }), '', 'idle');
      return is
        ? tile(`${n}`, t('place {n}, a hot page', { n }), 'H', 'work')
        : tile(`${n}`, t('place {n}, a page of the scan', { n }), 'S', 'other');
    }),
  };
}

type Titles = Readonly<Record<Policy, string>>;

function play({ order, marks, amounts }: TileSetting, titles: Titles): TilePlay {
  const hot = order.filter((id) => marks[id] === 'H').length;
  const scan = amounts['scan'] ?? 0;
  const found = policies.map((policy) => outcomeOf(policy, hot, scan));
  const [lists, gens] = found as [Outcome, Outcome];
  return {
    shelf: {
      name: 'file',
      title: t('The hot file'),
      verdict: t('{hot} hot pages, and memory has {room}', { hot, room }),
      cells: room,
      folds: 2,
      tiles: order.map((id) =>
        marks[id] === 'H'
          ? tile(id, t('page {id}, used in each round', { id }), 'H', 'work')
          : tile(id, t('page {id}, not used', { id }), '', 'idle'),
      ),
    },
    results: policies.map((policy, n) => shelfOf(policy, titles[policy], hot, found[n]!)),
    barsTitle: t('Hot pages that a round reads from the disk again'),
    bars: policies.map((policy, n) => ({
      name: policy,
      title: titles[policy],
      value: found[n]!.again,
      words: t('{n, plural, one {# page} other {# pages}}', { n: found[n]!.again }),
      face: found[n]!.again > 0 ? 'wait' : 'gain',
    })),
    outcome: wordsOf(lists, gens, titles),
    reached: [
      ...(lists.again > 0 && gens.again === 0 ? ['lists'] : []),
      ...(hot > 0 && hot < room && lists.again === hot ? ['each'] : []),
      ...(lists.again > 0 && gens.again > 0 ? ['both'] : []),
    ],
  };
}

function wordsOf(lists: Outcome, gens: Outcome, titles: Titles): TilePlay['outcome'] {
  if (lists.again === 0 && gens.again === 0)
    return { words: t('Both policies keep all hot pages.'), face: 'gain' };
  if (gens.again === 0)
    return {
      words: t(
        'On {lists} hot pages are evicted, and on {generations} only pages of the scan.',
        titles,
      ),
      face: 'wait',
    };
  return { words: t('Both policies evict hot pages.'), face: 'hazard' };
}

export const memory: TileToy = {
  form: 'tiles',
  title: t('Which page is evicted?'),
  ask: t(
    'Memory has room for sixteen pages. Choose which pages of the file are used in each round, and how many new pages a scan reads between two rounds. Which pages do the two policies keep?',
  ),
  leavesOut: t(
    'The hot process uses a mapping, and the scan calls read(). Pages are evicted one by one, not 32 at a time, and no page has a tier.',
  ),
  hand: [
    { mark: 'H', title: hotTitle },
    { mark: 'N', title: idleTitle },
  ],
  open(_index, { arms }: Lesson): TileGame {
    const titleOf = (policy: Policy) => arms.find(({ name }) => name === policy)?.title ?? policy;
    const titles: Titles = { lists: titleOf('lists'), generations: titleOf('generations') };
    const goal = (name: string, title: string, can: () => string) => ({ name, title, can });
    return {
      from: null,
      start: settingOf(6, 12),
      amounts: [
        {
          name: 'scan',
          title: t('scan'),
          min: 0,
          max: 24,
          step: 1,
          words: (n) => t('{n, plural, one {# page} other {# pages}} a round', { n }),
        },
      ],
      presets: [
        { title: t('less than half is hot'), setting: settingOf(6, 12) },
        { title: t('more than half is hot'), setting: settingOf(10, 12) },
      ],
      play: (setting) => play(setting, titles),
      goals: [
        goal(
          'lists',
          t('Let {lists} evict a hot page while {generations} evict none.', titles),
          () =>
            t('Yes: more than half of the memory must be hot, and the scan must be long enough.'),
        ),
        goal(
          'each',
          t('Let {lists} read each hot page again, though all of them would fit.', titles),
          () =>
            t(
              'Yes: if reclaim goes through the inactive list twice within one scan, no page is used between the two checks.',
            ),
        ),
        goal('both', t('Let both policies evict hot pages.'), () =>
          t('Yes: make all pages hot, so that the oldest generation has no page of the scan.'),
        ),
      ],
    };
  },
};
