// SPDX-License-Identifier: GPL-2.0-or-later
/** The picture in words: the sentence of each scene, read off the events up to the moment. */

import { formatCount, plural } from '../../base/units.ts';
import { about, figure } from '../../derive/figures.ts';
import type { LaneIndex } from '../../derive/types.ts';
import { armTitle, capital, list } from '../../derive/words.ts';
import type { Lesson } from '../../protocol/lesson.ts';
import type { Sentence } from '../contract.ts';
import { blocksOf } from './block-replay.ts';
import {
  backText,
  budgetOf,
  eachFreedByOver,
  ofScan,
  scanNumber,
  scansOver,
  scansSoFar,
  soFar,
} from './figures.ts';
import { type LaneNow, laneNow } from './now.ts';
import { backSoFar } from './refill.ts';
import { absence, sumsOf } from './scans.ts';
import { aheadOf, answerOf, blockBytes } from './spoken.ts';
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
  const one = states[0]!;
  const { lane, now, facts } = one;
  const { visited, kept } = now.sums;
  const asked = budgetOf(one, plural(facts.budget, 'entry', 'entries'));
  if (visited === 0) return `${capital(title(lesson, lane))} is asked to look for ${asked}.`;
  const stay = ofScan(one, 'kept', kept === visited ? 'all of them' : none(kept));
  const many = plural(visited, 'entry', 'entries');
  const looked = `${about(lane.arm, 'scan', ofScan(one, 'visited', many))} looked at, ${stay} must stay`;
  const freed = ofScan(one, 'freed', none(now.sums.freed));
  return now.over
    ? `The scan comes back: ${looked}, ${freed} freed. Its budget of ${budgetOf(one)} is gone.`
    : `The scan has begun: ${looked}, ${freed} freed so far.`;
};

/** Entries that the scan has looked at, and where they are. */
function scanned(one: LaneNow): string {
  const text = ofScan(one, 'visited');
  return one.now.sums.visited > 0 ? about(one.lane.arm, 'scan', text) : text;
}

const eachScan: SentenceOf = (states, lesson) => {
  const parts = states.map((one) => {
    const { lane, now } = one;
    const done = now.over ? 'looked at' : 'has looked at';
    const freed = ofScan(one, 'freed', none(now.sums.freed));
    return `${title(lesson, lane)} ${done} ${scanned(one)} and freed ${freed}`;
  });
  const over = states.every(({ now }) => now.over);
  const scan = `In scan ${scanNumber(states[0]!)}, asked for ${budgetOf(states[0]!)}`;
  return `${scan}: ${list(parts)}${over ? '. All have come back.' : '.'}`;
};

const firstGain: SentenceOf = (states, lesson) => {
  const one = states[0]!;
  const { lane, now, facts } = one;
  const freedOf = (other: LaneNow) =>
    soFar(other, 'freed', none(sumsOf(other.facts, 0, other.now.visits).freed));
  const name = title(lesson, lane);
  const rest = states
    .slice(1)
    .map(
      (other) =>
        ` ${capital(title(lesson, other.lane))} has freed ${freedOf(other)} so far${putBack(other)}.`,
    );
  const all = sumsOf(facts, 0, now.visits);
  if (all.freed === 0) {
    const ahead = aheadOf(one)?.length ?? -1;
    const more = () => about(lane.arm, 'ahead', figure('now', lane.arm, 'delayed ahead', ahead));
    const way = ahead > 0 ? `, ${more()} more delayed ones lie ahead` : '';
    return `Scan ${scanNumber(one)} of ${name}: so far ${soFar(one, 'visited')} entries looked at, ${freedOf(one)} freed${way}.${rest.join('')}`;
  }
  const first = facts.scans.find((scan) => scan.number === facts.firstGain);
  const before = first === undefined ? 0 : sumsOf(facts, 0, first.from).visited;
  const of = (what: string, n: number) => figure('mark', lane.arm, what, n);
  return `Scan ${of('first gain', facts.firstGain)} of ${name} is the first to free anything, after ${of('looks before', before)} looks in vain; so far ${freedNow(one, freedOf(one))} are freed${putBack(one)}.${rest.join('')}`;
};

/** Entries that were freed and are there again, since a program looked their blocks up. */
function putBack(one: LaneNow): string {
  const n = backSoFar(one.lane, one.points);
  return n === 0 ? '' : `; ${backText(one, plural(n, 'entry was', 'entries were'))} put back`;
}

/** Freed entries, and which of them this scan has freed. */
function freedNow(one: LaneNow, text: string): string {
  return one.now.sums.freed > 0 ? about(one.lane.arm, 'freed', text) : text;
}

/** What the looks so far brought: the same number on every lane, until one lane's run is over. */
const charged: SentenceOf = (states, lesson) => {
  const looks = (one: LaneNow) => soFar(one, 'visited', plural(one.now.visits, 'look'));
  const first = states[0]!;
  const same = states.every(({ now }) => now.visits === first.now.visits);
  const parts = states.map((one) => {
    const { lane, now, facts } = one;
    const freed = soFar(one, 'freed', none(sumsOf(facts, 0, now.visits).freed));
    const back = putBack(one).slice(2);
    const by = same ? '' : ` by ${looks(one)}`;
    return `${title(lesson, lane)} ${freedNow(one, freed)}${by} up to scan ${scanNumber(one)}${back && ` (${back})`}`;
  });
  return same
    ? `${looks(first)} each so far, and this many entries freed: ${list(parts)}.`
    : `Entries freed so far: ${list(parts)}.`;
};

const price: SentenceOf = (states, lesson) => {
  const one = states.at(-1)!;
  const { lane, boxes } = one;
  const on = threadOf(boxes).length;
  let off = 0;
  for (let box = 0; box < boxes.there.length; box++)
    if (boxes.there[box] === 1 && boxes.letter[box] === 1) off += 1;
  const steps = listSteps(lane, one.points) ?? 0;
  const many = figure('now', lane.arm, 'on the list', on, plural(on, 'entry is', 'entries are'));
  const entries = on > 0 ? about(lane.arm, 'list', many) : many;
  const changed = figure('far', lane.arm, 'list steps', steps, plural(steps, 'time'));
  return `${capital(title(lesson, lane))}: ${entries} on the list, which was changed ${changed} so far; ${figure('now', lane.arm, 'letter 1 there', off)} delayed ones carry its pointers and are not on it.`;
};

const promise: SentenceOf = (states, lesson) => {
  const parts = states.map((one) => {
    const { freed, kept } = one.now.sums;
    const vain = ofScan(one, 'kept', plural(kept, 'look'));
    const gain = freedNow(one, ofScan(one, 'freed', none(freed)));
    const brings = one.now.over ? `brings ${gain}` : `has brought ${gain} so far`;
    return `${title(lesson, one.lane)} ${brings}, for ${vain} in vain`;
  });
  const first = states[0]!;
  return `Scan ${scanNumber(first)}, asked for ${budgetOf(first)}: ${list(parts)}.`;
};

/** What lseek last answered, and how many delayed entries the kernel found for it. */
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
    const from = `data from block ${start}, a hole at ${say('hole', hole / blockBytes)}`;
    const entries = say('found', n, plural(n, 'delayed entry', 'delayed entries'));
    const words = `${from}; ${entries} gave the answer`;
    return [{ name: title(lesson, lane), words }];
  });
  if (answers.length === 0) return 'No program has asked where the data are yet.';
  const same = answers.every(({ words }) => words === answers[0]!.words);
  const said = same ? `${answers[0]!.words}${answers.length > 1 ? ' on each kernel' : ''}` : '';
  const each = answers.map(({ name, words }) => `${name}: ${words}`).join('. ');
  return `After a scan, SEEK_DATA and SEEK_HOLE ask for the data. ${capital(same ? said : each)}.`;
};

/** Of scans that are over alone: what the one under way has freed is not theirs. */
const totals: SentenceOf = (states, lesson) => {
  const parts = states.map((one) => {
    const name = title(lesson, one.lane);
    if (scansOver(one.facts, one.now.visits) === 0) return `${name} is in its first scan`;
    const looks = eachFreedByOver(one);
    const per = looks === null ? 'nothing freed' : `${looks} for each entry freed`;
    const scans = scansSoFar(one, (n) => plural(n, 'scan'));
    return `${name} ${per} in ${scans} that came back`;
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
    const one = laneNow({ index, frame }, lane);
    const { facts, now } = one;
    const name = capital(title(lesson, lane));
    const entries = figure('setup', lane.arm, 'entries', boxes, plural(boxes, 'entry', 'entries'));
    if (now.scan === null) return `${name}: ${entries}, no visit yet.`;
    const { visited, spared } = sumsOf(facts, 0, now.visits);
    const fates = [`${soFar(one, 'freed')} freed`, `${soFar(one, 'kept')} kept`];
    if (spared > 0) fates.push(`${soFar(one, 'spared')} spared once`);
    const scan = `scan ${scanNumber(one)}${now.over ? ' is over' : ''}`;
    const more = () =>
      figure('run', lane.arm, 'untold', facts.untold, plural(facts.untold, 'visit'));
    const untold =
      facts.untold > 0 ? ` In the whole run ${more()} more were counted, not reported.` : '';
    return `${name}: ${scan}; ${soFar(one, 'visited', plural(visited, 'visit'))} so far, ${list(fates)}.${untold}`;
  });
};
