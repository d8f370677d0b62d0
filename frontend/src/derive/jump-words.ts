// SPDX-License-Identifier: GPL-2.0-or-later
/** Why a jump cannot be made, and what is where one has led: a sentence each. Pure. */

import { locale, t } from '../base/lang/t.ts';
import { formatNs, momentMs } from '../base/units.ts';
import type { Lesson } from '../protocol/lesson.ts';
import { operationsOfAll, together, unaligned } from './align.ts';
import { longFrom, nextLongWait } from './beats.ts';
import { meanOf, type NoParting, type Parting, partingOf, pointColumns } from './divergence.ts';
import { fieldValue } from './point-words.ts';
import { laneOf } from './query.ts';
import { momentWords } from './retime.ts';
import type { Frame, LaneIndex, RunIndex } from './types.ts';
import { armTitle, capital, list, shortTitle } from './words.ts';

/** What a person asked playback for that leads elsewhere. */
export type Jump = 'divergence' | 'long_wait' | 'loss' | 'align';

/** A point of the axis in the words of the lesson's view, by its place in the lane's table. */
export type EntryWords = (lane: LaneIndex, place: number) => string;

type Names = Pick<Lesson, 'arms' | 'operation' | 'points' | 'axis' | 'thread'>;

/** Why there is no first divergence; empty: there is one. */
export function noDivergence(index: RunIndex, lesson: Names): string {
  const found = partingOf(index);
  return typeof found === 'string' ? whyNot(found, index, lesson) : '';
}

function whyNot(why: NoParting, index: RunIndex, lesson: Names): string {
  const { name, plural } = lesson.operation;
  const unit = index.axis ?? lesson.axis;
  switch (why) {
    case 'alone':
      return t('There is one lane; a divergence takes two.');
    case 'host_order':
      return t(
        '{plural} stand in the order in which the host ran the CPUs, so the same number on two lanes compares nothing.',
        { plural: capital(unit?.plural ?? 'accesses') },
      );
    case 'no_operations':
      return index.axis !== null
        ? t('A lane has no {unit} to compare.', { unit: index.axis.unit })
        : `${capital(unaligned(lesson) ?? t('a lane has no {name} to compare', { name }))}.`;
    case 'none_yet':
      return t('Not every lane has ended a {name} yet.', { name });
    case 'alike':
    case 'never_twice': {
      const means = index.lanes.map((l) =>
        t('{l} on {lesson}', { l: formatNs(meanOf(l)), lesson: armTitle(lesson, l) }),
      );
      const also =
        why === 'alike' ? '' : t(', and no {name} takes twice as long on the slowest', { name });
      return t('The {plural} of all lanes take about as long: {means} on average{also}.', {
        plural,
        means: list(means),
        also,
      });
    }
    case 'same_entries':
      return t('All lanes have the same {plural}, as far as the shortest goes.', {
        plural: unit?.plural ?? t('entries'),
      });
  }
}

/** Why there is no long wait; empty: there is one. */
export function noLongWait(index: RunIndex): string {
  if (longFrom(index) > 0) return '';
  const lanes = index.lanes.length === 1 ? t('On this lane') : t('On these lanes');
  return t('{lanes} nobody waits for what the lesson is about.', { lanes });
}

/** Why lanes cannot be aligned by their first operation; empty: they can. */
export function noMarker(index: RunIndex, { operation }: Names): string {
  if (index.lanes.length < 2) return t('There is one lane: it has nothing to be aligned with.');
  return operationsOfAll(index) > 0
    ? ''
    : t('No lane has ended a {name} yet.', { name: operation.name });
}

/** What is where a jump has led; `from`: the moment at which it was asked for. */
export function jumpWords(
  what: Jump,
  from: number,
  index: RunIndex,
  frame: Frame,
  lesson: Names,
  entryWords?: EntryWords,
): string {
  switch (what) {
    case 'divergence': {
      const found = partingOf(index);
      return typeof found === 'string'
        ? whyNot(found, index, lesson)
        : partingWords(found, index, lesson, entryWords);
    }
    case 'long_wait':
      return waitWords(from, index, frame, lesson);
    case 'loss':
      return lossWords(index, frame, lesson);
    case 'align':
      return alignWords(index, frame, lesson);
  }
}

function partingWords(
  found: Parting,
  index: RunIndex,
  lesson: Names,
  entryWords?: EntryWords,
): string {
  const lanes = found.lanes.flatMap(({ arm, place }) => {
    const lane = laneOf(index, arm);
    return lane === null ? [] : [{ lane, place }];
  });
  const of = (lane: LaneIndex) => t('on {lesson}', { lesson: armTitle(lesson, lane) });
  if (found.by === 'operation') {
    const each = lanes.map(({ lane, place }) => {
      const { t0, t1 } = lane.ops;
      return `${formatNs(t1[place]! - t0[place]!)} ${of(lane)}`;
    });
    const why = t('the first that took twice as long on the slowest lane as on the fastest');
    return t('The lanes part at {name} {count}: {each}; it is {why}.', {
      name: lesson.operation.name,
      count: found.n.toLocaleString(locale()),
      each: list(each),
      why,
    });
  }
  const say = entryWords ?? differingFields(lanes, index, lesson);
  const each = lanes.map(({ lane, place }) => `${say(lane, place)} ${of(lane)}`);
  return t('The lanes part at {unit} {count}: {list}.', {
    unit: index.axis?.unit ?? t('entry'),
    count: found.n.toLocaleString(locale()),
    list: each.join('; '),
  });
}

/** "lblk 0, fate 2": the fields in which any of these points differs from the others. */
function differingFields(
  all: readonly { readonly lane: LaneIndex; readonly place: number }[],
  index: RunIndex,
  lesson: Names,
): EntryWords {
  const fields = lesson.points.find((p) => p.name === index.axis?.point)?.fields ?? [];
  const value = (lane: LaneIndex, place: number, k: number) =>
    lane.points[pointColumns[k]!]![place]!;
  const differing = fields.flatMap((field, k) =>
    new Set(all.map(({ lane, place }) => value(lane, place, k))).size > 1 ? [{ field, k }] : [],
  );
  return (lane, place) =>
    differing
      .map(({ field, k }) => `${field} ${fieldValue(field, value(lane, place, k))}`)
      .join(', ');
}

function waitWords(from: number, index: RunIndex, frame: Frame, lesson: Names): string {
  const wait = nextLongWait(index, frame.offset, from);
  const lane = wait && laneOf(index, wait.arm);
  if (!wait || !lane) return noLongWait(index);
  const who =
    lane.rows.find(({ row }) => row === wait.row)?.name ??
    t('a {thread}', { thread: lesson.thread });
  const kind = index.kinds[wait.kind];
  const again =
    wait.t0 <= from ? t(' No later one begins, so this is the first of the run again.') : '';
  const what = kind === undefined ? t('waits') : shortTitle(kind);
  return t(
    'Here {who} on {lesson} {what}, for {t1}; long is what takes at least half of the longest wait, {index}.{again}',
    {
      who,
      lesson: armTitle(lesson, lane),
      what,
      t1: formatNs(wait.t1 - wait.t0),
      index: formatNs(longFrom(index)),
      again,
    },
  );
}

function lossWords(index: RunIndex, { offset, moment }: Frame, lesson: Names): string {
  const lost = index.lanes.filter((lane) =>
    lane.losses.some(({ t0 }) => Math.abs(t0 + (offset.get(lane.arm) ?? 0) - moment) < 1),
  );
  if (lost.length === 0) return t('No events were lost on these lanes.');
  return t('Here events of {arms} were lost.', {
    arms: list(lost.map((lane) => armTitle(lesson, lane))),
  });
}

function alignWords(index: RunIndex, { aligned, offset }: Frame, lesson: Names): string {
  const { by, n } = aligned ?? { by: 'time', n: 1 };
  if (by === 'time') return t("Each lane has its own time since the workload's start.");
  const { at, last } = together(index, by, n);
  const what = `${lesson.operation.name} ${n.toLocaleString(locale())}`;
  if (at === null || last === null)
    return t('No lane has ended {what} yet, so nothing moved.', { what });
  const { axis } = index;
  const words = (t: number) => (axis === null ? momentMs(t) : momentWords(axis, t));
  const length = (t: number) => (axis === null ? formatNs(t) : momentWords(axis, t));
  const shifts = index.lanes.flatMap((lane) => {
    const by = offset.get(lane.arm) ?? 0;
    return by > 0
      ? [t('{lesson} by {by}', { lesson: armTitle(lesson, lane), by: length(by) })]
      : [];
  });
  const moved =
    shifts.length === 0
      ? t('no lane had to be moved')
      : t('moved for that: {shifts}', { shifts: list(shifts) });
  const verb = by === 'begin' ? t('begins') : t('ends');
  return t('{what} {verb} on every lane at once, at {at}; {moved}.', {
    what: capital(what),
    verb,
    at: words(at),
    moved,
  });
}
