// SPDX-License-Identifier: GPL-2.0-or-later
/** The toy of the wall: an object arrives while a walk clears its bit. */

import { t } from '../../../base/lang/t.ts';
import type { Limits, Play, Setting, Times, Toy } from '../../../toys/types.ts';
import { arrivalRow, barrierAt, bitRow, listRow, walkRow } from './rows.ts';
import { type Care, count, type Op, opsOf, outcomeOf } from './rule.ts';
import { walkTimes } from './times.ts';
import { sayings, words } from './words.ts';

/** The least distance of two steps, as a share of the line. */
const least = 1 / 200;

function careOf({ on }: Setting): Care {
  return {
    second: on['second'] ?? true,
    walkBarrier: on['walkBarrier'] ?? true,
    addBarrier: on['addBarrier'] ?? true,
  };
}

function start({ at, span }: Times): Setting {
  const add = at['look']! + (at['clear']! - at['look']!) * 0.25;
  const set = at['look']! + (at['clear']! - at['look']!) * 0.75;
  return {
    at: { add, set: Math.max(set, add + span * least), clear: at['clear']! },
    on: { second: true, walkBarrier: true, addBarrier: true },
  };
}

function limits(times: Times, setting: Setting, handle: string): Limits {
  const { span } = times;
  const care = careOf(setting);
  if (handle === 'clear') {
    const held = care.walkBarrier && care.second;
    const max = held ? barrierAt(times) - span * least : span * 0.94;
    return { min: times.at['clear']!, max };
  }
  if (handle === 'set' && care.addBarrier)
    return { min: setting.at['add']! + span * least, max: span };
  return handle === 'set' ? { min: 0, max: span } : { min: 0, max: span * (1 - 4 * least) };
}

/** An object that is moved takes its bit along. */
function move(times: Times, setting: Setting, handle: string, to: number): Setting {
  const at = { ...setting.at, [handle]: to };
  if (handle === 'add') {
    const along = setting.at['set']! + to - setting.at['add']!;
    const min = careOf(setting).addBarrier ? to + times.span * least : 0;
    at['set'] = Math.min(times.span, Math.max(min, along));
  }
  return { ...setting, at };
}

/** The order in which memory sees the steps. */
export function orderOf(times: Times, setting: Setting): readonly Op[] {
  const when = { ...times.at, ...setting.at } as Record<Op, number>;
  return opsOf(careOf(setting)).toSorted((a, b) => when[a] - when[b]);
}

function play(times: Times, setting: Setting): Play {
  const care = careOf(setting);
  const order = orderOf(times, setting);
  const outcome = outcomeOf(order);
  return {
    rows: [
      walkRow(times, setting, care, outcome),
      arrivalRow(setting, care),
      listRow(times, setting, outcome),
      bitRow(times, setting, outcome),
    ],
    says: sayings(order, outcome),
    outcome: {
      words: words(outcome, care, order),
      face: outcome.lost ? 'hazard' : 'gain',
    },
    reached: outcome.lost ? [care.second ? (whole(care) ? 'whole' : 'late') : 'naive'] : [],
  };
}

function whole(care: Care): boolean {
  return care.second && care.walkBarrier && care.addBarrier;
}

/** What trying every order gives. */
function tried(care: Care): string {
  const { all, lost } = count(care);
  if (lost === 0)
    return t('No: of the {all} orders that are possible, none loses the object.', { all });
  return t(
    'Yes: of the {all} orders that are possible, {lost, plural, one {# loses} other {# lose}} the object.',
    {
      all,
      lost,
    },
  );
}

const full: Care = { second: true, walkBarrier: true, addBarrier: true };

export const arrival: Toy = {
  title: t('Lose the object'),
  ask: t(
    'The list is empty and its bit is set. A walk looks, finds nothing and clears the bit, while somebody adds an object. Drag the object, its bit, and the moment when memory sees the clear. Take the care away piece by piece, and lose the object.',
  ),
  leavesOut: t(
    'On x86 both atomic operations are barriers themselves and the two macros cost nothing; on arm64, for one, they are instructions.',
  ),
  handles: [
    { name: 'add', title: t('the object comes onto the list') },
    { name: 'set', title: t('its bit is set') },
    { name: 'clear', title: t('the clear is seen in memory') },
  ],
  switches: [
    { name: 'second', title: t('the walk looks again'), on: true },
    { name: 'walkBarrier', title: t('barrier of the walk'), on: true },
    { name: 'addBarrier', title: t('barrier of who adds'), on: true },
  ],
  goals: [
    {
      name: 'naive',
      title: t('Lose it where the walk does not look again.'),
      can: () => tried({ ...full, second: false }),
    },
    {
      name: 'late',
      title: t('Lose it although the walk looks again: take away one barrier.'),
      can: () =>
        t("Without the walk's: {walk} Without the other: {other}", {
          walk: tried({ ...full, walkBarrier: false }),
          other: tried({ ...full, addBarrier: false }),
        }),
    },
    {
      name: 'whole',
      title: t('Lose it with all the care in place.'),
      can: () => tried(full),
    },
  ],
  times: walkTimes,
  start,
  limits,
  move,
  play,
};
