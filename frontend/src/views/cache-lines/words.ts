// SPDX-License-Identifier: GPL-2.0-or-later
/** The picture in words: the sentence of each scene, computed for the moment; counted and modelled are told apart. */

import { formatCount, formatFigure, plural, second } from '../../base/units.ts';
import { laneTime } from '../../derive/align.ts';
import type { Frame, RunIndex } from '../../derive/types.ts';
import { armTitle, capital, list } from '../../derive/words.ts';
import type { Lesson } from '../../protocol/lesson.ts';
import type { Sentence } from '../contract.ts';
import { all, totalsOf } from './counted.ts';
import { fieldWords, lineBytes } from './fields.ts';
import { intervalsOf, phasesOf, rateOf, shareIn, slowShare } from './lock.ts';
import { stepWords } from './marks.ts';
import { accessAt, happening, type LaneNow, laneNow } from './now.ts';
import { predictedPerSecond, predictedRatio } from './predicted.ts';
import { perStatWords, soFar, statWords } from './so-far.ts';

interface Told {
  readonly told: readonly LaneNow[];
  readonly lesson: Lesson;
  readonly index: RunIndex;
}

/** Each sentence speaks of the lanes on show. */
function sentence(tell: (told: Told) => string): Sentence {
  return (index, frame, lesson) => {
    if (index.axis === null) return '';
    const told = index.lanes.map((lane) => laneNow({ index, frame, lesson }, lane));
    const known = told.filter(({ model }) => model !== null);
    if (known.length === 0) return 'No access to the dentry has been told yet.';
    if (known.some(({ beyond }) => beyond)) return 'More is not known yet.';
    return tell({ told: known, lesson, index });
  };
}

const title = (lesson: Lesson, { lane }: LaneNow) => armTitle(lesson, lane);

/** The access that is under way, or the last one that is over. */
function current(told: LaneNow) {
  if (told.under !== null) return told.under;
  return told.done === 0 ? null : accessAt(told.lane, told.model!, told.done - 1);
}

/** One stat's accesses, one after another: what they are, and whether anything had to come. */
const oneStat = sentence(({ told }) => {
  const one = told[0]!;
  const access = current(one);
  if (access === null)
    return 'A CPU is about to stat the file; it has none of the three lines yet.';
  const { model, lane } = one;
  let [reads, writes, fetched] = [0, 0, 0];
  const written = new Set<string>();
  for (let k = 0; k < one.done; k++) {
    const past = accessAt(lane, model!, k);
    if (past.op !== access.op || past.cpu !== access.cpu) continue;
    if (past.kind === 0) reads += 1;
    else {
      writes += 1;
      written.add(fieldWords(one.struct, past.at, past.size));
    }
    if (happening(past) === 'fetch') fetched += 1;
  }
  const wrote =
    writes === 0
      ? 'nothing written'
      : `${plural(writes, 'read-modify-write')} of ${list([...written])}`;
  const came =
    fetched > 0 ? `${plural(fetched, 'line')} had to come from memory` : 'nothing had to come';
  return `Stat ${access.op}: so far ${plural(reads, 'read')}, ${wrote}, counted; ${came}, modelled.`;
});

/** What happens now, and what it costs by and by. */
const sharedLine = sentence(({ told }) => {
  const one = told[0]!;
  const access = current(one);
  const { transfers, ops, forName } = soFar(one);
  const now = access === null || happening(access) === 'hit' ? '' : `${stepWords(one, access)} `;
  const totals = totalsOf(one.lane);
  const words = totals === null ? '' : nameWords(totals.nameReads, one);
  if (ops < 0.5) return `${words}${now}`.trim();
  const each = formatFigure(transfers / ops);
  const name = forName === 0 ? 'none' : formatCount(forName);
  return `${words}${now}So far ${plural(transfers, 'transfer')} in ${statWords(ops)}, ${each} each, ${name} of them to read the name; modelled.`;
});

function nameWords(reads: number, { struct }: LaneNow): string {
  if (struct === null) return '';
  const letters = plural(struct.nameLength, 'letter');
  const n = formatFigure(reads);
  return reads < 0.005
    ? `${letters}: no read of the name falls on the line of the count, counted. `
    : `${letters}: ${n === '1' ? '1 read' : `${n} reads`} of the name a stat fall${n === '1' ? 's' : ''} on the line of the count, counted. `;
}

/** The same stats on each kernel: how many lines travel, and what for. */
const compared = sentence(({ told, lesson }) => {
  const parts = told.map((one) => {
    const { transfers, ops, forName } = soFar(one);
    const each = ops < 0.5 ? 'none yet' : `${formatFigure(transfers / ops)} transfers a stat`;
    const name = forName === 0 ? 'none' : formatCount(forName);
    return `${title(lesson, one)} ${each}, ${name} of ${formatCount(transfers)} to read the name`;
  });
  const where = told.map((one) => {
    const at = one.struct?.countAt ?? -1;
    return at < 0 ? '' : `${at} on ${title(lesson, one)}`;
  });
  const moved = where.every(Boolean) ? ` The count stands at byte ${list(where)}.` : '';
  return `So far: ${list(parts)}; modelled.${moved}`;
});

/** What more CPUs make of it, and what the model predicts. */
const many = sentence(({ told, lesson }) => {
  const cpus = told[0]!.model!.settings.cpus;
  const parts = told.map((one) => {
    return `${perStatWords(soFar(one))} on ${title(lesson, one)}`;
  });
  return `${plural(cpus, 'CPU')}, transfers a stat: ${list(parts)}; modelled.${ratioWords(told, lesson)}`;
});

function ratioWords(told: readonly LaneNow[], lesson: Lesson): string {
  const [before, after] = [told[0]!, told.at(-1)!];
  const { settings } = before.model!;
  const of = (owning: boolean) => predictedRatio(before.lane, after.lane, { ...settings, owning });
  const [plain, owning] = [of(false), of(true)];
  if (plain === null || owning === null) return '';
  const mail = mailRatio(lesson);
  const beside = mail === null ? '' : `; the mail measured ${formatFigure(mail)} on 20`;
  return ` Predicted rate of ${title(lesson, after)}, in times of ${title(lesson, before)}: ${formatFigure(plain)}, or ${formatFigure(owning)} if a load before a compare-and-swap asks to own the line${beside}.`;
}

/** "5038006 to 7842883 ops/s": the mail's own figures, out of the lesson's seeds. */
export function mailFigures(lesson: Pick<Lesson, 'seeds'>): readonly [number, number] | null {
  for (const { mail } of lesson.seeds) {
    const found = /(\d+) to (\d+) ops\/s \(\+/.exec(mail);
    if (found) return [Number(found[1]), Number(found[2])];
  }
  return null;
}

export function mailRatio(lesson: Pick<Lesson, 'seeds'>): number | null {
  const figures = mailFigures(lesson);
  return figures === null ? null : figures[1] / figures[0];
}

/** What does not depend on any model or host. */
const proved = sentence(({ told, lesson }) => {
  const parts = told.map((one) => {
    const totals = totalsOf(one.lane);
    if (totals === null) return `${title(lesson, one)} not counted yet`;
    const sum = totals.lines.reduce((n, line) => n + all(line), 0);
    const { reads, rmws } = totals.lock;
    const line = one.struct?.lockLine ?? -1;
    return `${title(lesson, one)} ${formatFigure(sum)} accesses a stat, of the count's line (line ${line}) ${formatFigure(reads)} reads and ${formatFigure(rmws)} read-modify-writes`;
  });
  return `Counted: ${list(parts)}. A rate here says nothing of caches.`;
});

/** What the gain does to the lock: operations on the one word come faster. */
const price = sentence(({ told, lesson }) => {
  const parts = told.map((one) => {
    const rate = predictedPerSecond(one.lane, one.model!.settings);
    const totals = totalsOf(one.lane);
    if (rate === null || totals === null) return `${title(lesson, one)} not known yet`;
    const gap = second / (rate * totals.lock.rmws);
    return `every ${formatFigure(gap)} ns on ${title(lesson, one)}`;
  });
  const cpus = told[0]!.model!.settings.cpus;
  return `With ${plural(cpus, 'CPU')} somebody moves the count ${list(parts)}; modelled. The sooner the next one comes, the likelier he finds the lock taken.`;
});

/** The three phases, as far as they are known. */
const stuck: Sentence = (index, frame, lesson) => {
  if (index.axis !== null) return '';
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
    const told = laneNow({ index, frame, lesson }, lane);
    const name = capital(armTitle(lesson, lane));
    if (told.model === null) return `${name}: no access has been told yet.`;
    const { settings, trace } = told.model;
    const { transfers, ops } = soFar(told);
    const { struct } = told;
    const where =
      struct === null
        ? ''
        : ` The name begins at byte ${struct.compared[0]}, the count at ${struct.countAt}, in line ${struct.lockLine} of ${struct.lines} lines of ${lineBytes} bytes.`;
    return `${name}: ${formatCount(told.done)} of ${formatCount(trace.log.length)} accesses, ${statWords(ops)}, ${plural(transfers, 'transfer')} among ${plural(settings.cpus, 'CPU')} (${settings.protocol}, modelled).${where}`;
  });
}
