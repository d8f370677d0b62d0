// SPDX-License-Identifier: GPL-2.0-or-later
/** The picture in words: the sentence of each scene, computed for the moment; counted and modelled are distinguished. */

import { formatCount, formatFigure, plural, second } from '../../base/units.ts';
import { laneTime } from '../../derive/align.ts';
import type { Frame, RunIndex } from '../../derive/types.ts';
import { armTitle, capital, list } from '../../derive/words.ts';
import type { Lesson } from '../../protocol/lesson.ts';
import type { Sentence } from '../contract.ts';
import { all, totalsOf } from './counted.ts';
import { fieldWords, lineBytes, type Struct } from './fields.ts';
import { intervalsOf, phasesOf, rateOf, shareIn, slowShare } from './lock.ts';
import { stepWords } from './marks.ts';
import { accessAt, happening, type LaneNow, laneNow } from './now.ts';
import { predictedPerSecond, predictedRatio } from './predicted.ts';
import { noHot, noObject, noOrder, noPath, operationWords } from './refusal.ts';
import { perStatWords, soFar } from './so-far.ts';

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

/** The access that is under way, or the last one that is over. */
function current(shown: LaneNow) {
  if (shown.under !== null) return shown.under;
  return shown.done === 0 ? null : accessAt(shown.lane, shown.model!, shown.done - 1);
}

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
  const how = [
    ...(writes > 0 ? [plural(writes, 'write')] : []),
    ...(rmws > 0 ? [plural(rmws, 'read-modify-write')] : []),
  ];
  const wrote = how.length === 0 ? 'nothing written' : `${list(how)} of ${list([...written])}`;
  const came =
    fetched > 0 ? `${plural(fetched, 'line')} had to come from memory` : 'nothing had to come';
  return `${capital(name)} ${access.op}: so far ${plural(reads, 'read')}, ${wrote}, counted; ${came}, modelled.`;
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
  const now = access === null || happening(access) === 'hit' ? '' : `${stepWords(one, access)} `;
  const totals = totalsOf(one.lane);
  const words = totals?.nameReads == null ? '' : nameWords(totals.nameReads, one, lesson);
  if (ops < 0.5) return `${words}${now}`.trim();
  const each = formatFigure(transfers / ops);
  const name = forName === 0 ? 'none' : formatCount(forName);
  const why = one.struct?.name ? `, ${name} of them to read the name` : '';
  return `${words}${now}So far ${plural(transfers, 'transfer')} in ${operationWords(ops, lesson)}, ${each} each${why}; modelled.`;
});

function nameWords(reads: number, { struct }: LaneNow, { operation }: Lesson): string {
  if (!struct?.name || struct.hot === null) return '';
  const letters = plural(struct.name.length, 'letter');
  const where = `on the line of the ${struct.hot.words}, counted. `;
  const n = formatFigure(reads);
  return reads < 0.005
    ? `${letters}: no read of the name falls ${where}`
    : `${letters}: ${n === '1' ? '1 read' : `${n} reads`} of the name a ${operation.name} fall${n === '1' ? 's' : ''} ${where}`;
}

/** The same operations on each kernel: how many lines travel, and what for. */
const compared = sentence(({ shown, lesson }) => {
  const parts = shown.map((one) => {
    const { transfers, ops, forName } = soFar(one);
    const per = `transfers a ${lesson.operation.name}`;
    const each = ops < 0.5 ? 'none yet' : `${formatFigure(transfers / ops)} ${per}`;
    const name = forName === 0 ? 'none' : formatCount(forName);
    const why = one.struct?.name ? `, ${name} of ${formatCount(transfers)} to read the name` : '';
    return `${title(lesson, one)} ${each}${why}`;
  });
  const where = shown.map(({ struct, ...one }) =>
    struct?.hot ? `${struct.hot.at - struct.lead} on ${armTitle(lesson, one.lane)}` : '',
  );
  const hot = shown[0]?.struct?.hot?.words ?? '';
  const moved = where.every(Boolean) ? ` The ${hot} stands at byte ${list(where)}.` : '';
  return `So far: ${list(parts)}; modelled.${moved}`;
});

/** What more CPUs make of it, and what the model predicts. */
const many = sentence(({ shown, lesson }) => {
  const cpus = shown[0]!.model!.settings.cpus;
  const parts = shown.map((one) => {
    return `${perStatWords(soFar(one))} on ${title(lesson, one)}`;
  });
  return `${plural(cpus, 'CPU')}, transfers a ${lesson.operation.name}: ${list(parts)}; modelled.${ratioWords(shown, lesson)}`;
});

function ratioWords(shown: readonly LaneNow[], lesson: Lesson): string {
  const [before, after] = [shown[0]!, shown.at(-1)!];
  const { settings } = before.model!;
  const ratio = predictedRatio(before.lane, after.lane, settings);
  if (ratio === null) return '';
  const mail = mailRatio(lesson);
  const beside = mail === null ? '' : `; the mail measured ${formatFigure(mail)} on 20`;
  return ` Predicted rate of ${title(lesson, after)}, in times of ${title(lesson, before)}: ${formatFigure(ratio)}${settings.owning ? '' : ' if loads only read'}${beside}.`;
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
    const sum = totals.lines.reduce((n, line) => n + all(line), 0);
    const whole = `${title(lesson, one)} ${formatFigure(sum)} accesses a ${lesson.operation.name}`;
    const hot = one.struct?.hot;
    if (totals.hot === null || !hot) return whole;
    const { reads, writes, rmws } = totals.hot;
    const wrote = writes > 0.004 ? `, ${formatFigure(writes)} writes` : '';
    return `${whole}, of the ${hot.lineWords} (line ${hot.line}) ${formatFigure(reads)} reads${wrote} and ${formatFigure(rmws)} read-modify-writes`;
  });
  return `Counted: ${list(parts)}. A rate here says nothing of caches.`;
});

/** What the gain does to the lock: operations on the one word come faster. */
const price = sentence(({ shown, lesson }) => {
  const parts = shown.map((one) => {
    const rate = predictedPerSecond(one.lane, one.model!.settings);
    const totals = totalsOf(one.lane);
    if (rate === null || !totals?.hot?.rmws) return `not known on ${title(lesson, one)}`;
    const gap = second / (rate * totals.hot.rmws);
    return `every ${formatFigure(gap)} ns on ${title(lesson, one)}`;
  });
  const cpus = shown[0]!.model!.settings.cpus;
  const hot = shown[0]!.struct?.hot?.words;
  if (hot === undefined) return noHot(shown[0]!.lane, lesson);
  if (parts.every((part) => part.startsWith('not known')))
    return 'No rate is predicted: where in an operation these functions run was not counted.';
  return `With ${plural(cpus, 'CPU')} somebody moves the ${hot} ${list(parts)}; modelled. The sooner the next one comes, the likelier he finds the lock taken.`;
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
      const when = { before: 'alone', listing: 'during the listing', after: 'after it' }[
        phase.name
      ];
      return [`${when} ${formatFigure(slow * 100)} % (${formatCount(rate)} operations a second)`];
    });
    if (phases.length === 0) return `${armTitle(lesson, lane)}: nothing was counted yet`;
    return `${armTitle(lesson, lane)}: ${list(phases)}`;
  });
  return `Under the lock, ${parts.join('; ')}.`;
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
    const { transfers, ops } = soFar(shown);
    const where = shown.struct === null ? ` ${noObject(lesson)}` : placeWords(shown.struct);
    return `${name}: ${formatCount(shown.done)} of ${formatCount(trace.log.length)} accesses, ${operationWords(ops, lesson)}, ${plural(transfers, 'transfer')} among ${plural(settings.cpus, 'CPU')} (${settings.protocol}, modelled).${where}`;
  });
}

/** " The name begins at byte 56, the count at 88, in line 1 of 3 lines of 64 bytes." */
function placeWords({ name, hot, lead, lines }: Struct): string {
  const among = `${plural(lines, 'line')} of ${lineBytes} bytes`;
  if (hot === null) return ` It lies on ${among}.`;
  const at = `at ${name ? '' : 'byte '}${hot.at - lead}, in line ${hot.line} of ${among}`;
  if (name === null) return ` The ${hot.words} begins ${at}.`;
  return ` The name begins at byte ${name.compared[0] - lead}, the ${hot.words} ${at}.`;
}
