// SPDX-License-Identifier: GPL-2.0-or-later
/** The picture in words: the sentence of each scene, computed from the events up to the moment. */

import { t } from '@page/base/lang/t.ts';
import { formatCount, ns } from '@page/base/units.ts';
import { about, figure } from '@page/derive/figures.ts';
import { type Answer, choiceOf } from '@page/derive/prediction.ts';
import { momentWords, stepNs } from '@page/derive/retime.ts';
import type { NearbyRow } from '@page/derive/summary.ts';
import type { Frame, LaneIndex, RunIndex } from '@page/derive/types.ts';
import { armTitle, capital, list } from '@page/derive/words.ts';
import type { Lesson } from '@page/protocol/lesson.ts';
import type { Answerer, Counts, Sentence } from '@page/views/contract.ts';
import {
  backText,
  budgetOf,
  eachFreed,
  eachFreedByOver,
  ofScan,
  scanNumber,
  scansOver,
  scansSoFar,
  soFar,
} from './figures.ts';
import { aheadOf, answerOf, blockBytes, boxMark } from './marks.ts';
import {
  absence,
  backSoFar,
  blocksOf,
  type Facts,
  factsOf,
  fates,
  type LaneNow,
  laneNow,
  letterOf,
  letters,
  listSteps,
  sumsOf,
  threadOf,
} from './replay.ts';

type SentenceOf = (states: readonly LaneNow[], lesson: Lesson) => string;

/** Build a sentence about the lanes in view. With `hold`, the sentence is about the scan at which the scene stops. */
function sentence(tell: SentenceOf, hold?: boolean): Sentence {
  return (index, frame, lesson) => {
    const states = index.lanes.map((lane) => laneNow({ index, frame }, lane, hold));
    const known = states.filter(({ now, facts }) => now.scan !== null && facts.visits > 0);
    if (known.length === 0) return states[0] === undefined ? '' : absence(states[0].lane);
    if (known.some(({ now }) => now.beyond))
      return t('The visits at this moment are not known yet.');
    return tell(known, lesson);
  };
}

function none(n: number): string {
  return t('{n, plural, =0 {none} other {#}}', { n });
}

const title = (lesson: Lesson, lane: LaneIndex) => armTitle(lesson, lane);

/** Return the budget in words, such as "32 entries". */
function askedOf(one: LaneNow): string {
  const { budget } = one.facts;
  return budgetOf(one, t('{budget, plural, one {# entry} other {# entries}}', { budget }));
}

/** Describe one scan, from its first look at an entry to its return. */
const oneScan: SentenceOf = (states, lesson) => {
  const one = states[0]!;
  const { lane, now } = one;
  const { visited, kept } = now.sums;
  const asked = askedOf(one);
  if (visited === 0)
    return t('{name} is asked for {asked}.', {
      name: capital(title(lesson, lane)),
      asked,
    });
  const stay = ofScan(one, 'kept', kept === visited ? t('all of them') : none(kept));
  const many = t('{visited, plural, one {# entry} other {# entries}}', { visited });
  const looked = t('{scan} looked at, {stay} must stay', {
    scan: about(lane.arm, 'scan', ofScan(one, 'visited', many)),
    stay,
  });
  const freed = ofScan(one, 'freed', none(now.sums.freed));
  return now.over
    ? t('The scan returns: {looked}, {freed} freed. Its budget of {budget} is used up.', {
        looked,
        freed,
        budget: budgetOf(one),
      })
    : t('The scan has begun. So far: {looked}, {freed} freed.', { looked, freed });
};

/** Return the number of entries that the scan has looked at, linked to their boxes. */
function scanned(one: LaneNow): string {
  const text = ofScan(one, 'visited');
  return one.now.sums.visited > 0 ? about(one.lane.arm, 'scan', text) : text;
}

const eachScan: SentenceOf = (states, lesson) => {
  const parts = states.map((one) => {
    const { lane, now } = one;
    return t('{name} {over, select, yes {looked at} other {has looked at}} {n} and freed {freed}', {
      ...{ name: title(lesson, lane), over: now.over ? 'yes' : 'no', n: scanned(one) },
      freed: ofScan(one, 'freed', none(now.sums.freed)),
    });
  });
  const over = states.every(({ now }) => now.over);
  return t(
    'In scan {scan}, which asks for {asked}: {parts}.{over, select, yes { All have returned.} other {}}',
    {
      ...{ scan: scanNumber(states[0]!), asked: askedOf(states[0]!), parts: list(parts) },
      over: over ? 'yes' : 'no',
    },
  );
};

const firstGain: SentenceOf = (states, lesson) => {
  const one = states[0]!;
  const { lane, now, facts } = one;
  const freedOf = (other: LaneNow) =>
    soFar(other, 'freed', none(sumsOf(other.facts, 0, other.now.visits).freed));
  const name = title(lesson, lane);
  const rest = states.slice(1).map((other) =>
    t(' {name} has freed {n} so far{back}.', {
      name: capital(title(lesson, other.lane)),
      n: freedOf(other),
      back: alsoBack(other),
    }),
  );
  const all = sumsOf(facts, 0, now.visits);
  if (all.freed === 0) {
    const ahead = aheadOf(one)?.length ?? -1;
    const more = () => about(lane.arm, 'ahead', figure('now', lane.arm, 'delayed ahead', ahead));
    const way =
      ahead > 0
        ? t(', with {more} more delayed {ahead, plural, one {entry} other {entries}} ahead', {
            more: more(),
            ahead,
          })
        : '';
    return t('Scan {scan} of {name}: so far {visited} looked at, {freed} freed{way}.{rest}', {
      scan: scanNumber(one),
      name,
      visited: soFar(
        one,
        'visited',
        t('{visited, plural, one {# entry} other {# entries}}', { visited: all.visited }),
      ),
      freed: freedOf(one),
      way,
      rest: rest.join(''),
    });
  }
  const first = facts.scans.find((scan) => scan.number === facts.firstGain);
  const before = first === undefined ? 0 : sumsOf(facts, 0, first.from).visited;
  const of = (what: string, n: number) => figure('mark', lane.arm, what, n);
  return t(
    'Scan {firstGain} of {name} is the first to free anything, after {looksBefore} looks that freed nothing. So far, {name} has freed {freed}{back}.{rest}',
    {
      firstGain: of('first gain', facts.firstGain),
      name,
      looksBefore: of('looks before', before),
      freed: freedNow(one, freedOf(one)),
      back: alsoBack(one),
      rest: rest.join(''),
    },
  );
};

/** Say how many freed entries were put back by lookups; empty if there were no such entries. */
function putBack(one: LaneNow): string {
  const n = backSoFar(one.lane, one.points);
  return n === 0
    ? ''
    : backText(one, t('{n, plural, one {# entry was} other {# entries were}} put back', { n }));
}

function alsoBack(one: LaneNow): string {
  const back = putBack(one);
  return back && t('; {back}', { back });
}

/** Return the number of freed entries, linked to the entries that this scan freed. */
function freedNow(one: LaneNow, text: string): string {
  return one.now.sums.freed > 0 ? about(one.lane.arm, 'freed', text) : text;
}

/**
 * Compare the entries that the looks so far have freed. All lanes have the same number of looks until one lane's run
 * has ended.
 */
const charged: SentenceOf = (states, lesson) => {
  const looks = (one: LaneNow) =>
    soFar(
      one,
      'visited',
      t('{visits, plural, one {# look} other {# looks}}', { visits: one.now.visits }),
    );
  const first = states[0]!;
  const same = states.every(({ now }) => now.visits === first.now.visits);
  const parts = states.map((one) => {
    const { lane, now, facts } = one;
    const freed = soFar(one, 'freed', none(sumsOf(facts, 0, now.visits).freed));
    const back = putBack(one);
    return t('{name} {freed}{by} up to scan {scan}{back}', {
      ...{ name: title(lesson, lane), freed: freedNow(one, freed), scan: scanNumber(one) },
      by: same ? '' : t(' after {looks}', { looks: looks(one) }),
      back: back && t(' ({back})', { back }),
    });
  });
  return same
    ? t('{looks} on each kernel so far; entries freed: {parts}.', {
        looks: looks(first),
        parts: list(parts),
      })
    : t('Entries freed so far: {parts}.', { parts: list(parts) });
};

const price: SentenceOf = (states, lesson) => {
  const one = states.at(-1)!;
  const { lane, boxes } = one;
  const on = threadOf(boxes).length;
  let off = 0;
  for (let box = 0; box < boxes.there.length; box++)
    if (boxes.there[box] === 1 && boxes.letter[box] === 1) off += 1;
  const steps = listSteps(lane, one.points) ?? 0;
  const many = figure(
    'now',
    lane.arm,
    'on the list',
    on,
    t('{on, plural, one {# entry is} other {# entries are}}', { on }),
  );
  const entries = on > 0 ? about(lane.arm, 'list', many) : many;
  const changed = figure(
    'far',
    lane.arm,
    'list steps',
    steps,
    t('{steps, plural, one {# time} other {# times}}', { steps }),
  );
  return t(
    "{name}: {entries} on the list, which was changed {changed} so far. {others} delayed {off, plural, one {entry has the list's pointers but is} other {entries have the list's pointers but are}} not on the list.",
    {
      name: capital(title(lesson, lane)),
      entries,
      changed,
      others: figure('now', lane.arm, 'letter 1 there', off),
      off,
    },
  );
};

const promise: SentenceOf = (states, lesson) => {
  const parts = states.map((one) => {
    const { freed, kept } = one.now.sums;
    const vain = ofScan(one, 'kept', t('{kept, plural, one {# look} other {# looks}}', { kept }));
    const gain = freedNow(one, ofScan(one, 'freed', none(freed)));
    const of = { name: title(lesson, one.lane), gain, vain };
    return one.now.over
      ? t('{name} frees {gain}, with {vain} in vain', { name: of.name, gain, vain })
      : t('{name} has freed {gain} so far, with {vain} in vain', { name: of.name, gain, vain });
  });
  const first = states[0]!;
  return t('In scan {scan}, which asks for {asked}: {parts}.', {
    scan: scanNumber(first),
    asked: askedOf(first),
    parts: list(parts),
  });
};

/** Say what lseek last answered, and how many delayed entries the kernel found for this answer. */
const reader: SentenceOf = (states, lesson) => {
  const answers = states.flatMap((one) => {
    const { lane } = one;
    const answer = answerOf(one);
    if (answer === null) return [];
    const { p, data, hole } = answer;
    const { order } = lane.pointsOf('answer');
    const found = lane.pointsOf('found');
    let n = 0;
    for (let f = 0; f < found.length; f++)
      if (found.order[f]! > order[p - 1]! && found.order[f]! < order[p]!) n += 1;
    const say = (what: string, value: number, text?: string) =>
      figure('now', lane.arm, `answer: ${what}`, value, text);
    const start = about(lane.arm, 'data', say('data', data / blockBytes));
    const from = t('data from block {start}, a hole at {hole}', {
      start,
      hole: say('hole', hole / blockBytes),
    });
    const entries = say(
      'found',
      n,
      t('{n, plural, one {# delayed entry} other {# delayed entries}}', { n }),
    );
    const words = t('{from}; {entries} gave the answer', { from, entries });
    return [{ name: title(lesson, lane), words }];
  });
  if (answers.length === 0) return t('No program has asked yet where the data are.');
  const same = answers.every(({ words }) => words === answers[0]!.words);
  const { words } = answers[0]!;
  const said = answers.length > 1 ? t('{words} on each kernel', { words }) : words;
  const each = answers.map(({ name, words }) => `${name}: ${words}`).join('. ');
  return t(
    "After a scan, a program asks where the file's data are (SEEK_DATA, SEEK_HOLE). {said}.",
    {
      said: capital(same ? said : each),
    },
  );
};

/** Compare looks per freed entry. Only scans that have ended count; the current scan is left out. */
const totals: SentenceOf = (states, lesson) => {
  const parts = states.map((one) => {
    const name = title(lesson, one.lane);
    if (scansOver(one.facts, one.now.visits) === 0)
      return t('{name} is in its first scan', { name });
    const looks = eachFreedByOver(one);
    const scans = scansSoFar(one, (n) => t('{n, plural, one {# scan} other {# scans}}', { n }));
    return looks === null
      ? t('{name} freed nothing in {scans} that returned', { name, scans })
      : t('{name} made {looks} per freed entry in {scans} that returned', { name, looks, scans });
  });
  return t('So far: {parts}.', { parts: list(parts) });
};

export const sentences: Readonly<Record<string, Sentence>> = {
  one_scan: sentence(oneScan, true),
  each_scan: sentence(eachScan, true),
  first_gain: sentence(firstGain),
  charged: sentence(charged),
  price: sentence(price),
  promise: sentence(promise, true),
  reader: sentence(reader),
  totals: sentence(totals),
};

/** Describe the run up to the moment in words, with a sentence for each lane. */
export const summary: (...given: Parameters<Sentence>) => readonly string[] = (
  index,
  frame,
  lesson,
) => {
  const boxes = blocksOf(index).length;
  return index.lanes.map((lane) => {
    const one = laneNow({ index, frame }, lane);
    const { facts, now } = one;
    const name = capital(title(lesson, lane));
    const entries = figure(
      'setup',
      lane.arm,
      'entries',
      boxes,
      t('{boxes, plural, one {# entry} other {# entries}}', { boxes }),
    );
    if (now.scan === null) return t('{name}: {entries}, no visit yet.', { name, entries });
    const { visited, spared } = sumsOf(facts, 0, now.visits);
    const fates = [
      t('{freed} freed', { freed: soFar(one, 'freed') }),
      t('{kept} kept', { kept: soFar(one, 'kept') }),
    ];
    if (spared > 0) fates.push(t('{spared} spared once', { spared: soFar(one, 'spared') }));
    const scan = t('scan {n}{over, select, yes { is over} other {}}', {
      n: scanNumber(one),
      over: now.over ? 'yes' : 'no',
    });
    const more = () =>
      figure(
        'run',
        lane.arm,
        'untold',
        facts.untold,
        t('{untold, plural, one {# visit} other {# visits}}', { untold: facts.untold }),
      );
    const untold =
      facts.untold > 0
        ? t(' In the whole run, {more} more were counted but not reported one by one.', {
            more: more(),
          })
        : '';
    return t('{name}: {scan}; {visited} so far, {fates}.{untold}', {
      name,
      scan,
      visited: soFar(
        one,
        'visited',
        t('{visited, plural, one {# visit} other {# visits}}', { visited }),
      ),
      fates: list(fates),
      untold,
    });
  });
};

// Answers to predictions, counts of the run, and the marks near a moment, all from visits reported one by one.

type Reading = (facts: Facts, name: string) => { value: number; words: string } | null;

/** Build an answerer that computes the answer from the lane of the prediction's first arm. */
function reading(read: Reading): Answerer {
  return (index, prediction, lesson): Answer | null => {
    const lane = index.lanes.find((one) => one.arm === prediction.arms[0]);
    if (lane === undefined || lane.losses.length > 0) return null;
    const found = read(factsOf(lane), capital(armTitle(lesson, lane)));
    return found === null ? null : { ...found, choice: choiceOf(prediction, found.value) };
  };
}

export const answers: Readonly<Record<string, Answerer>> = {
  first_scan_visits: reading((facts, name) => {
    const first = facts.scans[0];
    if (first === undefined || first.open) return null;
    const { visited, freed } = sumsOf(facts, first.from, first.to);
    const words = t(
      '{name} looked at {visited, plural, one {# entry} other {# entries}} in its first scan and freed {freed}.',
      { name, visited, freed: formatCount(freed) },
    );
    return { value: visited, words };
  }),
  first_gain_scan: reading((facts, name) => {
    const n = facts.firstGain;
    const all = facts.scans.length;
    if (n === 0)
      return all === 0
        ? null
        : {
            value: 0,
            words: t(
              '{name}: none of {all, plural, one {# scan} other {# scans}} freed anything.',
              { name, all },
            ),
          };
    return {
      value: n,
      words: t('{name} freed its first entry in scan {n}.', { name, n: formatCount(n) }),
    };
  }),
};

/** Return the counts up to the moment. A lane's cells are empty while its counts are not known. */
export function counts(index: RunIndex, frame: Frame): Counts {
  // If no entries are in use, none is spared, and the column is left out.
  const refilled = index.lanes.some((lane) => backSoFar(lane, lane.points.length) > 0);
  const spared = index.lanes.some((lane) => lane.points.length > 0 && sparesAny(lane));
  const heads = [
    t('scans'),
    t('visited'),
    t('freed'),
    t('kept'),
    ...(spared ? [t('spared')] : []),
    t('entries visited per entry freed'),
    ...(refilled ? [t('put back')] : []),
  ];
  const names = ['visited', 'freed', 'kept', ...(spared ? (['spared'] as const) : [])] as const;
  const rows = index.lanes.map((lane): [string, string[]] => {
    const one = laneNow({ index, frame }, lane);
    if (one.now.beyond) return [lane.arm, []];
    const made = refilled ? [backText(one)] : [];
    const sums = names.map((name) => soFar(one, name));
    return [lane.arm, [scansSoFar(one), ...sums, eachFreed(one), ...made]];
  });
  return { heads, rows: new Map(rows) };
}

function sparesAny(lane: LaneIndex): boolean {
  const { upTo, visits } = factsOf(lane);
  return upTo[1][visits]! > 0;
}

const mostNearby = 50;

/** Return the visits nearest to the moment, at most 50 on all lanes together. */
export function nearby(index: RunIndex, frame: Frame, lesson: Lesson): NearbyRow[] {
  const each = Math.floor(mostNearby / Math.max(1, index.lanes.length));
  return index.lanes.flatMap((lane) => visitsNear(index, frame, lesson, lane, each));
}

function visitsNear(
  index: RunIndex,
  frame: Frame,
  lesson: Lesson,
  lane: LaneIndex,
  most: number,
): NearbyRow[] {
  const state = laneNow({ index, frame }, lane);
  const visit = lane.pointsOf('visit');
  const blocks = blocksOf(index);
  const { scans } = state.facts;
  // Only past visits are listed, because the picture does not show what comes next.
  const from = Math.max(0, state.now.visits - most);
  const shift = frame.offset.get(lane.arm) ?? 0;
  const rows: NearbyRow[] = [];
  for (let v = from; v < state.now.visits; v++) {
    const i = visit.order[v]!;
    const { points } = lane;
    const box = blocks.indexOf(points.b[i]!);
    const scan = scans.find((one) => v >= one.from && v < one.to);
    const t0 = ns((v + 1) * stepNs + shift);
    const letter = letters[letterOf(points.d[i]!)] ?? '';
    rows.push({
      mark: { ...boxMark(state, lesson, Math.max(0, box)), id: points.id[i]!, t0, t1: t0 },
      t0,
      when: momentWords(index.axis, t0),
      lane: armTitle(lesson, lane),
      row: t('block {n} {letter}', { n: formatCount(points.b[i]!), letter }),
      what: t(
        'visited, {fate, select, kept {kept} referenced {referenced} freed {freed} other {reported}}',
        { fate: fates[points.e[i]!] ?? 'reported' },
      ),
      length: scan === undefined ? '' : t('scan {n}', { n: formatCount(scan.number) }),
      cpu: String(points.cpu[i]!),
    });
  }
  return rows;
}
