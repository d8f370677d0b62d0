// SPDX-License-Identifier: GPL-2.0-or-later
/** The picture in words: the sentence of each scene, read off the events up to the moment. */

import { formatCount, plural } from '../../base/units.ts';
import type { LaneIndex } from '../../derive/types.ts';
import { armTitle, capital, list } from '../../derive/words.ts';
import type { Lesson } from '../../protocol/lesson.ts';
import type { Sentence } from '../contract.ts';
import { blocksOf } from './block-replay.ts';
import { perFreed, scansOver } from './figures.ts';
import { type LaneNow, laneNow } from './now.ts';
import { absence, sumsOf } from './scans.ts';
import { listSteps, threadOf } from './thread.ts';

type SentenceOf = (states: readonly LaneNow[], lesson: Lesson) => string;

/** Each sentence speaks of the lanes on show; `hold`: of the one scan that the scene stays at. */
function sentence(tell: SentenceOf, hold?: boolean): Sentence {
  return (index, frame, lesson) => {
    const states = index.lanes.map((lane) => laneNow({ index, frame }, lane, hold));
    const known = states.filter(({ now, facts }) => now.scan !== null && facts.visits > 0);
    if (known.length === 0) return states[0] === undefined ? '' : absence(states[0].lane);
    if (known.some(({ now }) => now.beyond)) return 'More is not known yet.';
    return tell(known, lesson);
  };
}

function none(n: number): string {
  return n === 0 ? 'none' : formatCount(n);
}

const title = (lesson: Lesson, lane: LaneIndex) => armTitle(lesson, lane);

/** One scan, from its first look to its return. */
const oneScan: SentenceOf = (states, lesson) => {
  const { lane, now, facts } = states[0]!;
  const { visited, kept, freed } = now.sums;
  const asked = plural(facts.budget, 'entry', 'entries');
  if (visited === 0) return `${capital(title(lesson, lane))} is asked to look for ${asked}.`;
  const fate = kept === visited ? 'all of them must stay' : `${none(kept)} must stay`;
  const looked = `${plural(visited, 'entry', 'entries')} looked at, ${fate}`;
  return now.over
    ? `The scan comes back: ${looked}, ${none(freed)} freed. Its budget of ${formatCount(facts.budget)} is gone.`
    : `The scan has begun: ${looked}, ${none(freed)} freed so far.`;
};

const eachScan: SentenceOf = (states, lesson) => {
  const parts = states.map(({ lane, now }) => {
    const { visited, freed } = now.sums;
    const done = now.over ? 'looked at' : 'has looked at';
    return `${title(lesson, lane)} ${done} ${formatCount(visited)} and freed ${none(freed)}`;
  });
  const budget = states[0]!.facts.budget;
  const over = states.every(({ now }) => now.over);
  return `Asked for ${formatCount(budget)}: ${list(parts)}${over ? '. All have come back.' : '.'}`;
};

/** Delayed entries between the hand and the first entry behind it that may be freed; -1: there is none. */
function delayedAhead({ lane, now, boxes, blocks }: LaneNow): number {
  const visit = lane.pointsOf('visit').order[now.visits - 1];
  const at = visit === undefined ? -1 : lane.points.b[visit]!;
  let ahead = 0;
  for (let box = 0; box < blocks.length; box++) {
    if (blocks[box]! <= at || boxes.there[box] === 0) continue;
    if (boxes.letter[box] !== 1) return ahead;
    ahead += 1;
  }
  return -1;
}

const firstGain: SentenceOf = (states, lesson) => {
  const one = states[0]!;
  const { lane, now, facts } = one;
  const all = sumsOf(facts, 0, now.visits);
  const name = title(lesson, lane);
  const rest = states.slice(1).map((other) => {
    const sums = sumsOf(other.facts, 0, other.now.visits);
    return ` ${capital(title(lesson, other.lane))} has freed ${none(sums.freed)}.`;
  });
  if (all.freed === 0) {
    const ahead = delayedAhead(one);
    const way = ahead > 0 ? `, ${formatCount(ahead)} more delayed ones lie ahead` : '';
    return `Scan ${formatCount(now.scan!.number)} of ${name}: ${formatCount(all.visited)} entries looked at, none freed${way}.${rest.join('')}`;
  }
  const first = facts.scans.find((scan) => scan.number === facts.firstGain);
  const before = first === undefined ? 0 : sumsOf(facts, 0, first.from).visited;
  return `Scan ${formatCount(facts.firstGain)} of ${name} is the first to free anything, after ${formatCount(before)} looks in vain; so far ${formatCount(all.freed)} are freed.${rest.join('')}`;
};

/** The same number of looks on every lane: what they brought. */
const charged: SentenceOf = (states, lesson) => {
  const parts = states.map(({ lane, now, facts }) => {
    const { freed } = sumsOf(facts, 0, now.visits);
    const scans = plural(now.scan!.number, 'scan');
    return `${title(lesson, lane)} ${none(freed)} in ${scans}`;
  });
  const looks = Math.max(...states.map(({ now }) => now.visits));
  return `${plural(looks, 'look')} each, and this many entries freed: ${list(parts)}.`;
};

const price: SentenceOf = (states, lesson) => {
  const one = states.at(-1)!;
  const { lane, boxes } = one;
  const on = threadOf(boxes).length;
  let off = 0;
  for (let box = 0; box < boxes.there.length; box++)
    if (boxes.there[box] === 1 && boxes.letter[box] === 1) off += 1;
  const steps = listSteps(lane, one.points);
  return `${capital(title(lesson, lane))}: ${plural(on, 'entry is', 'entries are')} on the list, which was changed ${plural(steps ?? 0, 'time')} so far; ${formatCount(off)} delayed ones carry its pointers and are not on it.`;
};

const promise: SentenceOf = (states, lesson) => {
  const scan = states[0]!.now.scan!.number;
  const parts = states.map(({ lane, now }) => {
    const { freed, kept } = now.sums;
    return `${title(lesson, lane)} brings ${none(freed)}, for ${plural(kept, 'look')} in vain`;
  });
  const budget = formatCount(states[0]!.facts.budget);
  return `Scan ${formatCount(scan)}, asked for ${budget}: ${list(parts)}.`;
};

const blockBytes = 4096;

/** What lseek last answered, and how many delayed entries the kernel found for it. */
const reader: SentenceOf = (states, lesson) => {
  const answers = states.flatMap(({ lane, points }) => {
    const { order, length } = lane.pointsOf('answer');
    let p = length - 1;
    while (p >= 0 && order[p]! >= points) p -= 1;
    if (p < 1) return [];
    const [data, hole] = [lane.points.a[order[p - 1]!]!, lane.points.a[order[p]!]!];
    const found = lane.pointsOf('found');
    let n = 0;
    for (let f = 0; f < found.length; f++)
      if (found.order[f]! > order[p - 1]! && found.order[f]! < order[p]!) n += 1;
    const from = `data from block ${formatCount(data / blockBytes)}, a hole at ${formatCount(hole / blockBytes)}`;
    const words = `${from}; ${plural(n, 'delayed entry', 'delayed entries')} gave the answer`;
    return [{ name: title(lesson, lane), words }];
  });
  if (answers.length === 0) return 'No program has asked where the data are yet.';
  const same = answers.every(({ words }) => words === answers[0]!.words);
  const said = same ? `${answers[0]!.words}${answers.length > 1 ? ' on each kernel' : ''}` : '';
  const each = answers.map(({ name, words }) => `${name}: ${words}`).join('. ');
  return `After a scan, SEEK_DATA and SEEK_HOLE ask for the data. ${capital(same ? said : each)}.`;
};

const totals: SentenceOf = (states, lesson) => {
  const parts = states.map(({ lane, now, facts }) => {
    const sums = sumsOf(facts, 0, now.visits);
    const per = sums.freed === 0 ? 'nothing freed' : `${perFreed(sums)} looks for each entry freed`;
    return `${title(lesson, lane)} ${per} in ${plural(scansOver(facts, now.visits), 'scan')}`;
  });
  return `So far: ${list(parts)}.`;
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

/** The window in words, a sentence per lane. */
export const summary: (...given: Parameters<Sentence>) => readonly string[] = (
  index,
  frame,
  lesson,
) => {
  const boxes = blocksOf(index).length;
  return index.lanes.map((lane) => {
    const { facts, now } = laneNow({ index, frame }, lane);
    const sums = sumsOf(facts, 0, now.visits);
    const name = capital(title(lesson, lane));
    if (now.scan === null) return `${name}: ${plural(boxes, 'entry', 'entries')}, no visit yet.`;
    const { visited, kept, spared, freed } = sums;
    const fates = [`${formatCount(freed)} freed`, `${formatCount(kept)} kept`];
    if (spared > 0) fates.push(`${formatCount(spared)} spared once`);
    const scan = `scan ${formatCount(now.scan.number)}${now.over ? ' is over' : ''}`;
    const untold =
      facts.untold > 0 ? ` ${plural(facts.untold, 'visit')} more were counted, not reported.` : '';
    return `${name}: ${scan}; ${plural(visited, 'visit')} so far, ${list(fates)}.${untold}`;
  });
};
