// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Descriptions of the picture: the sentence of each scene at the current moment. A sentence says what is counted and
 * what is modelled.
 */

import { t } from '@page/base/lang/t.ts';
import { formatFigure, second } from '@page/base/units.ts';
import { laneTime } from '@page/derive/align.ts';
import { about, figure } from '@page/derive/figures.ts';
import type { Frame, LaneIndex, RunIndex } from '@page/derive/types.ts';
import { armTitle, capital, list } from '@page/derive/words.ts';
import type { Lesson } from '@page/protocol/lesson.ts';
import type { Sentence } from '@page/views/contract.ts';
import {
  all,
  far,
  noHot,
  noObject,
  noOrder,
  noPath,
  operationsFar,
  perStatWords,
  soFar,
  stillRead,
  totalsOf,
} from './counted.ts';
import { current } from './easel.ts';
import { fieldWords, lineBytes, type Struct } from './fields.ts';
import {
  burstWords,
  intervalsOf,
  phaseFigures,
  phasesOf,
  rateOf,
  shareIn,
  slowShare,
} from './lock.ts';
import { stepWords } from './marks.ts';
import { predictedPerSecond, predictedRatio } from './model.ts';
import { accessAt, happening, type LaneNow, laneNow } from './now.ts';

// Numbers with their nouns.

/** Nouns for the counts of one operation. */
const nouns = {
  line: (n: number) => t('{n, plural, one {# line} other {# lines}}', { n }),
  read: (n: number) => t('{n, plural, one {# read} other {# reads}}', { n }),
  'read-modify-write': (n: number) =>
    t('{n, plural, one {# read-modify-write} other {# read-modify-writes}}', { n }),
  write: (n: number) => t('{n, plural, one {# write} other {# writes}}', { n }),
};

// The object's place in its lines, in words.

/**
 * Describe the place of name and count: " The name begins at byte 56, the count at 88, in line 1 of 3 lines of 64
 * bytes."
 */
function placeWords({ arm }: LaneIndex, { name, hot, lead, lines }: Struct): string {
  const given = (what: string, n: number, text = String(n)) => figure('setup', arm, what, n, text);
  const among = t('{lines} of {bytes} bytes', {
    lines: given('lines', lines, t('{lines, plural, one {# line} other {# lines}}', { lines })),
    bytes: lineBytes,
  });
  if (hot === null) return t(' The object is in {among}.', { among });
  const place = given('place of the count', hot.at - lead);
  const { line } = hot;
  const at = name
    ? t('at {place}, in line {line} of {among}', { place, line, among })
    : t('at byte {place}, in line {line} of {among}', { place, line, among });
  if (name === null) return t(' The {words} begins {at}.', { words: hot.words, at });
  const begin = given('place of the name', name.compared[0] - lead);
  return t(' The name begins at byte {begin}, the {words} {at}.', { begin, words: hot.words, at });
}

interface SentenceInput {
  readonly shown: readonly LaneNow[];
  readonly lesson: Lesson;
  readonly index: RunIndex;
}

/** Make a sentence about the displayed lanes. */
function sentence(tell: (shown: SentenceInput) => string): Sentence {
  return (index, frame, lesson) => {
    if (index.axis === null) return '';
    const shown = index.lanes.map((lane) => laneNow({ index, frame, lesson }, lane));
    const known = shown.filter(({ model }) => model !== null);
    if (known.length === 0) return shown[0] ? (noOrder(shown[0].lane, lesson) ?? '') : '';
    if (known.some(({ beyond }) => beyond))
      return t('The accesses at this moment are not known yet.');
    return tell({ shown: known, lesson, index });
  };
}

const title = (lesson: Lesson, { lane }: LaneNow) => armTitle(lesson, lane);

/** Sentence about the current operation: its accesses so far, and the lines that were fetched. */
const oneStat = sentence(({ shown, lesson }) => {
  const one = shown[0]!;
  const access = current(one);
  const { name } = lesson.operation;
  if (access === null)
    return t('A CPU is about to begin a {name}, and {lines} yet.', { name, lines: noneOf(one) });
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
  const of = (n: number, kind: keyof typeof nouns) =>
    figure('operation', lane.arm, kind, n, nouns[kind](n));
  const how = [
    ...(writes > 0 ? [of(writes, 'write')] : []),
    ...(rmws > 0 ? [of(rmws, 'read-modify-write')] : []),
  ];
  const wrote =
    how.length === 0
      ? t('nothing written')
      : t('{how} of {fields}', { how: list(how), fields: list([...written]) });
  const came =
    fetched > 0
      ? t('{lines} had to be fetched from memory', { lines: of(fetched, 'line') })
      : t('no line had to be fetched');
  const named = figure('now', lane.arm, 'operation', access.op, String(access.op));
  const number = about(lane.arm, 'access', named);
  return t('{name} {number}: so far {read}, {wrote}, counted; {came}, modelled.', {
    name: capital(name),
    number,
    read: of(reads, 'read'),
    wrote,
    came,
  });
});

/** Return "it has none of the three lines", with the object's number of lines. */
function noneOf({ struct, model }: LaneNow): string {
  const lines = struct?.lines ?? model?.trace.log.lines ?? 1;
  if (lines === 1) return t('it does not have the line');
  return t('it has none of the {lines, plural, =2 {two} =3 {three} =4 {four} other {#}} lines', {
    lines,
  });
}

/** Sentence about the current access and the transfers so far. */
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
  const why = one.struct?.name ? t(', {name} of them to read the name', { name }) : '';
  return t('{words}{now}So far {transfers} in {ops}, {each} each{why}; modelled.', {
    words,
    now,
    transfers: far(
      one,
      'transfers',
      t('{transfers, plural, one {# transfer} other {# transfers}}', { transfers }),
    ),
    ops: operationsFar(one, lesson),
    each: perStatWords(one),
    why,
  });
});

const none = (n: number) => t('{n, plural, =0 {none} other {#}}', { n });

/** A figure that describes the whole run. */
function whole(one: LaneNow, what: string, n: number, text = formatFigure(n)): string {
  return figure('run', one.lane.arm, what, n, text);
}

function nameWords(reads: number, one: LaneNow, { operation }: Lesson): string {
  const { struct } = one;
  if (!struct?.name || struct.hot === null) return '';
  const { length } = struct.name;
  const letters = figure(
    'setup',
    one.lane.arm,
    'letters',
    length,
    t('{length, plural, one {# letter} other {# letters}}', { length }),
  );
  if (!one.lane.ended) return t('{letters}: the run is {stillRead}. ', { letters, stillRead });
  const where = t('on the line of the {words}, counted over the whole run. ', {
    words: struct.hot.words,
  });
  if (reads < 0.005) return t('{letters}: no read of the name is {where}', { letters, where });
  const n = whole(one, 'name reads', reads);
  const { name } = operation;
  return n === '1'
    ? t('{letters}: 1 read of the name per {name} is {where}', { letters, name, where })
    : t('{letters}: {n} reads of the name per {name} are {where}', { letters, n, name, where });
}

/** Sentence that compares the transfers of the kernels for the same operations, and gives the reason. */
const compared = sentence(({ shown, lesson }) => {
  const parts = shown.map((one) => {
    const { ops, forName } = soFar(one);
    const { name: op } = lesson.operation;
    const each =
      ops < 0.5 ? t('none yet') : t('{n} transfers per {op}', { n: perStatWords(one), op });
    const name = far(one, 'forName', none(forName));
    const why = one.struct?.name
      ? t(', {name} of {all} to read the name', { name, all: far(one, 'transfers') })
      : '';
    return t('{name} {each}{why}', { name: title(lesson, one), each, why });
  });
  const where = shown.map(({ struct, ...one }) =>
    struct?.hot
      ? t('{hot} on {name}', {
          hot: about(
            one.lane.arm,
            'hot',
            figure('setup', one.lane.arm, 'place of the count', struct.hot.at - struct.lead),
          ),
          name: armTitle(lesson, one.lane),
        })
      : '',
  );
  const hot = shown[0]?.struct?.hot?.words ?? '';
  const moved = where.every(Boolean)
    ? t(' The {hot} begins at byte {where}.', { hot, where: list(where) })
    : '';
  return t('So far: {parts}; modelled.{moved}', { parts: list(parts), moved });
});

function cpusOf({ lane, model }: LaneNow): string {
  const { cpus } = model!.settings;
  return figure(
    'setup',
    lane.arm,
    'CPUs',
    cpus,
    t('{cpus, plural, one {# CPU} other {# CPUs}}', { cpus }),
  );
}

/** Sentence about transfers with more CPUs, and about the rate that the model predicts. */
const many = sentence(({ shown, lesson }) => {
  const cpus = cpusOf(shown[0]!);
  const parts = shown.map((one) => {
    return t('{n} on {name}', { n: perStatWords(one), name: title(lesson, one) });
  });
  return t('With {cpus}, transfers per {name} so far: {parts}; modelled.{ratio}', {
    cpus,
    name: lesson.operation.name,
    parts: list(parts),
    ratio: ratioWords(shown, lesson),
  });
});

function ratioWords(shown: readonly LaneNow[], lesson: Lesson): string {
  const [before, after] = [shown[0]!, shown.at(-1)!];
  const { settings } = before.model!;
  const ratio = predictedRatio(before.lane, after.lane, settings);
  if (ratio === null) return '';
  const mail = mailRatio(lesson);
  const beside =
    mail === null ? '' : t('; the mail measured {mail} on 20 CPUs', { mail: formatFigure(mail) });
  const times = figure('model', after.lane.arm, 'times the rate', ratio, formatFigure(ratio));
  return t(' The predicted rate of {after} is {times} times that of {before}{owning}{beside}.', {
    after: title(lesson, after),
    before: title(lesson, before),
    times,
    owning: settings.owning ? '' : t(' if loads only read'),
    beside,
  });
}

/** Return "5038006 to 7842883 ops/s": the mail's figures, from the lesson's published figures. */
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

/** Sentence about the counts, which depend on no model and no host. */
const proved = sentence(({ shown, lesson }) => {
  const parts = shown.map((one) => {
    const totals = totalsOf(one.lane);
    if (totals === null) return t('{name} not counted yet', { name: title(lesson, one) });
    if (!one.lane.ended) return t('{name} {stillRead}', { name: title(lesson, one), stillRead });
    const sum = totals.lines.reduce((n, line) => n + all(line), 0);
    const each = t('{name} {n} accesses per {op}', {
      name: title(lesson, one),
      n: whole(one, 'accesses per op', sum),
      op: lesson.operation.name,
    });
    const hot = one.struct?.hot;
    if (totals.hot === null || !hot) return each;
    const { reads, writes, rmws } = totals.hot;
    const wrote = writes > 0.004 ? t(', {n} writes', { n: whole(one, 'hot writes', writes) }) : '';
    return t(
      '{each}, {reads} reads{wrote} and {rmws} read-modify-writes of the {hot} (line {line})',
      {
        each,
        hot: about(one.lane.arm, 'hot', hot.lineWords),
        line: hot.line,
        reads: whole(one, 'hot reads', reads),
        wrote,
        rmws: whole(one, 'hot rmws', rmws),
      },
    );
  });
  return t(
    'Counted over the whole run: {parts}. A rate on an emulated CPU says nothing about caches.',
    {
      parts: list(parts),
    },
  );
});

/** Sentence about the effect of the gain on the lock: operations on the word follow each other faster. */
const price = sentence(({ shown, lesson }) => {
  const parts = shown.map((one) => {
    const rate = predictedPerSecond(one.lane, one.model!.settings);
    const totals = totalsOf(one.lane);
    if (rate === null || !totals?.hot?.rmws)
      return { known: false, words: t('not known on {name}', { name: title(lesson, one) }) };
    const gap = second / (rate * totals.hot.rmws);
    const every = figure('model', one.lane.arm, 'gap', gap, formatFigure(gap));
    const words = t('every {every} ns on {name}', { every, name: title(lesson, one) });
    return { known: true, words: about(one.lane.arm, 'hot', words) };
  });
  const cpus = cpusOf(shown[0]!);
  const hot = shown[0]!.struct?.hot?.words;
  if (hot === undefined) return noHot(shown[0]!.lane, lesson);
  if (shown.some(({ lane }) => !lane.ended))
    return t('No rate is predicted yet: the run is {stillRead}.', { stillRead });
  if (parts.every(({ known }) => !known))
    return t(
      'No rate is predicted: the positions of these functions in an operation were not counted.',
    );
  return t(
    'With {cpus}, a CPU changes the {hot} {parts}; modelled. The more often CPUs change the count, the more likely a CPU finds the lock taken.',
    { cpus, hot, parts: list(parts.map(({ words }) => words)) },
  );
});

/** Sentence about the shares and rates of the three phases, as far as they are known at the current moment. */
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
        before: t('before the listing'),
        listing: t('during the listing'),
        after: t('after it'),
      }[phase.name];
      const over = now >= phase.t1;
      const [part, per] = phaseFigures(lane, phase.name, over, slow, rate);
      return [
        t('{when}{over} {part} ({per} operations per second)', {
          when,
          over: over ? '' : t(' so far'),
          part,
          per,
        }),
      ];
    });
    if (phases.length === 0)
      return t('{name}: nothing was counted yet', { name: armTitle(lesson, lane) });
    return about(
      lane.arm,
      'phase',
      t('{name}: {phases}', { name: armTitle(lesson, lane), phases: list(phases) }),
    );
  });
  const bursts = index.lanes.map((lane) =>
    burstWords(lane, index, laneTime(frame.offset, lane.arm, frame.moment)),
  );
  return t('Under the lock, {parts}.{bursts}', {
    parts: parts.join('; '),
    bursts: bursts.join(''),
  });
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

/** Description of the window, one sentence per lane. */
export function summary(index: RunIndex, frame: Frame, lesson: Lesson): readonly string[] {
  if (index.axis === null) return [stuck(index, frame, lesson)];
  return index.lanes.map((lane) => {
    const shown = laneNow({ index, frame, lesson }, lane);
    const name = capital(armTitle(lesson, lane));
    if (shown.model === null) return t('{name}: {why}', { name, why: noOrder(lane, lesson) });
    const { settings, trace } = shown.model;
    const { transfers } = soFar(shown);
    const where = shown.struct === null ? ` ${noObject(lesson)}` : placeWords(lane, shown.struct);
    const done = figure('far', lane.arm, 'accesses', shown.done);
    const order = figure('run', lane.arm, 'accesses', trace.log.length);
    const part = lane.ended
      ? t('of the {n} accesses of the whole run', { n: order })
      : t('accesses of a run that is {stillRead}', { stillRead });
    return t(
      '{name}: so far {done} {part}, {ops}, {transfers} among {cpus} ({protocol}, modelled).{where}',
      {
        name,
        done,
        part,
        ops: operationsFar(shown, lesson),
        transfers: far(
          shown,
          'transfers',
          t('{transfers, plural, one {# transfer} other {# transfers}}', { transfers }),
        ),
        cpus: cpusOf(shown),
        protocol: settings.protocol,
        where,
      },
    );
  });
}
