// SPDX-License-Identifier: GPL-2.0-or-later
/** The picture in words: the sentence of each scene, computed for the moment; counted and modelled are distinguished. */

import { formatCount, formatFigure, plural, second } from '../../base/units.ts';
import { laneTime } from '../../derive/align.ts';
import { about, figure } from '../../derive/figures.ts';
import type { Frame, LaneIndex, RunIndex } from '../../derive/types.ts';
import { armTitle, capital, list } from '../../derive/words.ts';
import type { Lesson } from '../../protocol/lesson.ts';
import type { Sentence } from '../contract.ts';
import { all, totalsOf } from './counted.ts';
import { fieldWords, lineBytes, type Struct } from './fields.ts';
import { intervalsOf, phasesOf, rateOf, shareIn, slowShare } from './lock.ts';
import { burstWords, phaseFigures } from './lock-figures.ts';
import { stepWords } from './marks.ts';
import { accessAt, happening, type LaneNow, laneNow } from './now.ts';
import { predictedPerSecond, predictedRatio } from './predicted.ts';
import { noHot, noObject, noOrder, noPath } from './refusal.ts';
import { far, operationsFar, perStatWords, soFar, stillRead } from './so-far.ts';
import { current } from './spoken.ts';

interface SentenceInput {
  readonly shown: readonly LaneNow[];
  readonly lesson: Lesson;
  readonly index: RunIndex;
}

/** Each sentence speaks of the lanes on show. */
function sentence(tell: (shown: SentenceInput) => string): Sentence {
  return (index, frame, lesson) => {
    if (index.axis === null) return '';
    const shown = index.lanes.map((lane) => laneNow({ index, frame, lesson }, lane));
    const known = shown.filter(({ model }) => model !== null);
    if (known.length === 0) return shown[0] ? (noOrder(shown[0].lane, lesson) ?? '') : '';
    if (known.some(({ beyond }) => beyond)) return 'More is not known yet.';
    return tell({ shown: known, lesson, index });
  };
}

const title = (lesson: Lesson, { lane }: LaneNow) => armTitle(lesson, lane);

/** One operation's accesses, one after another: what they are, and whether anything had to come. */
const oneStat = sentence(({ shown, lesson }) => {
  const one = shown[0]!;
  const access = current(one);
  const { name } = lesson.operation;
  if (access === null) return `A CPU is about to do a ${name}; ${noneOf(one)} yet.`;
  const { model, lane } = one;
  let [reads, writes, rmws, fetched] = [0, 0, 0, 0];
  const written = new Set<string>();
  for (let k = 0; k < one.done; k++) {
    const past = accessAt(lane, model!, k);
    if (past.op !== access.op || past.cpu !== access.cpu) continue;
    if (past.kind === 0) reads += 1;
    else {
      if (past.kind === 1) writes += 1;
      else rmws += 1;
      written.add(fieldWords(one.struct, past.at, past.size));
    }
    if (happening(past) === 'fetch') fetched += 1;
  }
  const of = (n: number, kind: string) => figure('operation', lane.arm, kind, n, plural(n, kind));
  const how = [
    ...(writes > 0 ? [of(writes, 'write')] : []),
    ...(rmws > 0 ? [of(rmws, 'read-modify-write')] : []),
  ];
  const wrote = how.length === 0 ? 'nothing written' : `${list(how)} of ${list([...written])}`;
  const came =
    fetched > 0 ? `${of(fetched, 'line')} had to come from memory` : 'nothing had to come';
  const named = figure('now', lane.arm, 'operation', access.op, String(access.op));
  const number = about(lane.arm, 'access', named);
  return `${capital(name)} ${number}: so far ${of(reads, 'read')}, ${wrote}, counted; ${came}, modelled.`;
});

const numbers = ['', '', 'two', 'three', 'four'];

/** "it has none of the three lines" */
function noneOf({ struct, model }: LaneNow): string {
  const lines = struct?.lines ?? model?.trace.log.lines ?? 1;
  if (lines === 1) return 'it does not have the line';
  return `it has none of the ${numbers[lines] ?? lines} lines`;
}

/** What happens now, and what it costs by and by. */
const sharedLine = sentence(({ shown, lesson }) => {
  const one = shown[0]!;
  const access = current(one);
  const { transfers, ops, forName } = soFar(one);
  const now =
    access === null || happening(access) === 'hit'
      ? ''
      : about(one.lane.arm, 'access', `${stepWords(one, access)} `);
  const totals = totalsOf(one.lane);
  const words = totals?.nameReads == null ? '' : nameWords(totals.nameReads, one, lesson);
  if (ops < 0.5) return `${words}${now}`.trim();
  const name = far(one, 'forName', none(forName));
  const why = one.struct?.name ? `, ${name} of them to read the name` : '';
  return `${words}${now}So far ${far(one, 'transfers', plural(transfers, 'transfer'))} in ${operationsFar(one, lesson)}, ${perStatWords(one)} each${why}; modelled.`;
});

const none = (n: number) => (n === 0 ? 'none' : formatCount(n));

/** Of the whole run. */
function whole(one: LaneNow, what: string, n: number, text = formatFigure(n)): string {
  return figure('run', one.lane.arm, what, n, text);
}

function nameWords(reads: number, one: LaneNow, { operation }: Lesson): string {
  const { struct } = one;
  if (!struct?.name || struct.hot === null) return '';
  const { length } = struct.name;
  const letters = figure('setup', one.lane.arm, 'letters', length, plural(length, 'letter'));
  if (!one.lane.ended) return `${letters}: the run is ${stillRead}. `;
  const where = `on the line of the ${struct.hot.words}, counted over the whole run. `;
  if (reads < 0.005) return `${letters}: no read of the name falls ${where}`;
  const n = whole(one, 'name reads', reads);
  const fall = n === '1' ? '1 read of the name' : `${n} reads of the name`;
  return `${letters}: ${fall} a ${operation.name} fall${n === '1' ? 's' : ''} ${where}`;
}

/** The same operations on each kernel: how many lines travel, and what for. */
const compared = sentence(({ shown, lesson }) => {
  const parts = shown.map((one) => {
    const { ops, forName } = soFar(one);
    const per = `transfers a ${lesson.operation.name}`;
    const each = ops < 0.5 ? 'none yet' : `${perStatWords(one)} ${per}`;
    const name = far(one, 'forName', none(forName));
    const why = one.struct?.name ? `, ${name} of ${far(one, 'transfers')} to read the name` : '';
    return `${title(lesson, one)} ${each}${why}`;
  });
  const where = shown.map(({ struct, ...one }) =>
    struct?.hot
      ? `${about(one.lane.arm, 'hot', figure('setup', one.lane.arm, 'place of the count', struct.hot.at - struct.lead))} on ${armTitle(lesson, one.lane)}`
      : '',
  );
  const hot = shown[0]?.struct?.hot?.words ?? '';
  const moved = where.every(Boolean) ? ` The ${hot} stands at byte ${list(where)}.` : '';
  return `So far: ${list(parts)}; modelled.${moved}`;
});

function cpusOf({ lane, model }: LaneNow): string {
  const { cpus } = model!.settings;
  return figure('setup', lane.arm, 'CPUs', cpus, plural(cpus, 'CPU'));
}

/** What more CPUs make of it, and what the model predicts. */
const many = sentence(({ shown, lesson }) => {
  const cpus = cpusOf(shown[0]!);
  const parts = shown.map((one) => {
    return `${perStatWords(one)} on ${title(lesson, one)}`;
  });
  return `${cpus}, transfers a ${lesson.operation.name} so far: ${list(parts)}; modelled.${ratioWords(shown, lesson)}`;
});

function ratioWords(shown: readonly LaneNow[], lesson: Lesson): string {
  const [before, after] = [shown[0]!, shown.at(-1)!];
  const { settings } = before.model!;
  const ratio = predictedRatio(before.lane, after.lane, settings);
  if (ratio === null) return '';
  const mail = mailRatio(lesson);
  const beside = mail === null ? '' : `; the mail measured ${formatFigure(mail)} on 20`;
  const times = figure('model', after.lane.arm, 'times the rate', ratio, formatFigure(ratio));
  return ` Predicted rate of ${title(lesson, after)}, in times of ${title(lesson, before)}: ${times}${settings.owning ? '' : ' if loads only read'}${beside}.`;
}

/** "5038006 to 7842883 ops/s": the mail's own figures, out of the lesson's published figures. */
export function mailFigures(lesson: Pick<Lesson, 'published'>): readonly [number, number] | null {
  for (const { mail } of lesson.published) {
    const found = /(\d+) to (\d+) ops\/s \(\+/.exec(mail);
    if (found) return [Number(found[1]), Number(found[2])];
  }
  return null;
}

export function mailRatio(lesson: Pick<Lesson, 'published'>): number | null {
  const figures = mailFigures(lesson);
  return figures === null ? null : figures[1] / figures[0];
}

/** What does not depend on any model or host. */
const proved = sentence(({ shown, lesson }) => {
  const parts = shown.map((one) => {
    const totals = totalsOf(one.lane);
    if (totals === null) return `${title(lesson, one)} not counted yet`;
    if (!one.lane.ended) return `${title(lesson, one)} ${stillRead}`;
    const sum = totals.lines.reduce((n, line) => n + all(line), 0);
    const each = `${title(lesson, one)} ${whole(one, 'accesses per op', sum)} accesses a ${lesson.operation.name}`;
    const hot = one.struct?.hot;
    if (totals.hot === null || !hot) return each;
    const { reads, writes, rmws } = totals.hot;
    const wrote = writes > 0.004 ? `, ${whole(one, 'hot writes', writes)} writes` : '';
    return `${each}, of the ${about(one.lane.arm, 'hot', hot.lineWords)} (line ${hot.line}) ${whole(one, 'hot reads', reads)} reads${wrote} and ${whole(one, 'hot rmws', rmws)} read-modify-writes`;
  });
  return `Counted over the whole run: ${list(parts)}. A rate here says nothing of caches.`;
});

/** What the gain does to the lock: operations on the one word come faster. */
const price = sentence(({ shown, lesson }) => {
  const parts = shown.map((one) => {
    const rate = predictedPerSecond(one.lane, one.model!.settings);
    const totals = totalsOf(one.lane);
    if (rate === null || !totals?.hot?.rmws) return `not known on ${title(lesson, one)}`;
    const gap = second / (rate * totals.hot.rmws);
    const every = figure('model', one.lane.arm, 'gap', gap, formatFigure(gap));
    return about(one.lane.arm, 'hot', `every ${every} ns on ${title(lesson, one)}`);
  });
  const cpus = cpusOf(shown[0]!);
  const hot = shown[0]!.struct?.hot?.words;
  if (hot === undefined) return noHot(shown[0]!.lane, lesson);
  if (shown.some(({ lane }) => !lane.ended))
    return `No rate is predicted yet: the run is ${stillRead}.`;
  if (parts.every((part) => part.startsWith('not known')))
    return 'No rate is predicted: where in an operation these functions run was not counted.';
  return `With ${cpus} somebody moves the ${hot} ${list(parts)}; modelled. The sooner the next one comes, the likelier he finds the lock taken.`;
});

/** The three phases, as far as they are known. */
const stuck: Sentence = (index, frame, lesson) => {
  if (index.axis !== null) return '';
  const [first] = index.lanes;
  const refused = first === undefined ? null : noPath(first);
  if (refused !== null) return refused;
  const parts = index.lanes.map((lane) => {
    const now = laneTime(frame.offset, lane.arm, frame.moment);
    const intervals = intervalsOf(lane);
    const phases = phasesOf(index).flatMap((phase) => {
      const share = shareIn(intervals, phase.t0, phase.t1, now);
      const [slow, rate] = [slowShare(share), rateOf(share)];
      if (slow === null || rate === null) return [];
      const when = {
        before: 'before the listing',
        listing: 'during the listing',
        after: 'after it',
      }[phase.name];
      const over = now >= phase.t1;
      const [part, per] = phaseFigures(lane, phase.name, over, slow, rate);
      return [`${when}${over ? '' : ' so far'} ${part} (${per} operations a second)`];
    });
    if (phases.length === 0) return `${armTitle(lesson, lane)}: nothing was counted yet`;
    return about(lane.arm, 'phase', `${armTitle(lesson, lane)}: ${list(phases)}`);
  });
  const bursts = index.lanes.map((lane) =>
    burstWords(lane, index, laneTime(frame.offset, lane.arm, frame.moment)),
  );
  return `Under the lock, ${parts.join('; ')}.${bursts.join('')}`;
};

export const sentences: Readonly<Record<string, Sentence>> = {
  one_stat: oneStat,
  shared_line: sharedLine,
  compared,
  many,
  proved,
  price,
  stuck,
};

/** The window in words, a sentence per lane. */
export function summary(index: RunIndex, frame: Frame, lesson: Lesson): readonly string[] {
  if (index.axis === null) return [stuck(index, frame, lesson)];
  return index.lanes.map((lane) => {
    const shown = laneNow({ index, frame, lesson }, lane);
    const name = capital(armTitle(lesson, lane));
    if (shown.model === null) return `${name}: ${noOrder(lane, lesson)}`;
    const { settings, trace } = shown.model;
    const { transfers } = soFar(shown);
    const where = shown.struct === null ? ` ${noObject(lesson)}` : placeWords(lane, shown.struct);
    const done = figure('far', lane.arm, 'accesses', shown.done);
    const order = figure('run', lane.arm, 'accesses', trace.log.length);
    const part = lane.ended
      ? `of the ${order} accesses of the whole run`
      : `accesses of a run that is ${stillRead}`;
    return `${name}: so far ${done} ${part}, ${operationsFar(shown, lesson)}, ${far(shown, 'transfers', plural(transfers, 'transfer'))} among ${cpusOf(shown)} (${settings.protocol}, modelled).${where}`;
  });
}

/** " The name begins at byte 56, the count at 88, in line 1 of 3 lines of 64 bytes." */
function placeWords({ arm }: LaneIndex, { name, hot, lead, lines }: Struct): string {
  const given = (what: string, n: number, text = String(n)) => figure('setup', arm, what, n, text);
  const among = `${given('lines', lines, plural(lines, 'line'))} of ${lineBytes} bytes`;
  if (hot === null) return ` It lies on ${among}.`;
  const place = given('place of the count', hot.at - lead);
  const at = `at ${name ? '' : 'byte '}${place}, in line ${hot.line} of ${among}`;
  if (name === null) return ` The ${hot.words} begins ${at}.`;
  const begin = given('place of the name', name.compared[0] - lead);
  return ` The name begins at byte ${begin}, the ${hot.words} ${at}.`;
}
