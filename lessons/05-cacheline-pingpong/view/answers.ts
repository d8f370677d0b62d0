// SPDX-License-Identifier: GPL-2.0-or-later
/** Answers to predictions, the counts up to the current moment, and the accesses near that moment. */

import { t } from '@page/base/lang/t.ts';
import { formatCount, formatFigure, ns } from '@page/base/units.ts';
import { laneTime } from '@page/derive/align.ts';
import { figure } from '@page/derive/figures.ts';
import { type Answer, choiceOf } from '@page/derive/prediction.ts';
import { momentWords, stepNs } from '@page/derive/retime.ts';
import type { NearbyRow } from '@page/derive/summary.ts';
import type { Frame, LaneIndex, RunIndex } from '@page/derive/types.ts';
import { armTitle, capital } from '@page/derive/words.ts';
import { kindNumber, type Lesson, type Prediction } from '@page/protocol/lesson.ts';
import type { Answerer, Counts } from '@page/views/contract.ts';
import {
  far,
  functionName,
  operationWords,
  perStatWhole,
  perStatWords,
  soFar,
  stillRead,
  totalsOf,
} from './counted.ts';
import { intervalMark } from './draw-lock.ts';
import { fieldWords, structOf } from './fields.ts';
import { intervalsOf, phasesOf, rateOf, shareIn, slowShare } from './lock.ts';
import { accessKinds } from './marks.ts';
import { countedOf, predictedRatio, settingsOf } from './model.ts';
import { accessAt, happening, laneNow } from './now.ts';

type Reading = Pick<Answer, 'value' | 'words' | 'by'> | null;

function answer(
  read: (lanes: readonly LaneIndex[], index: RunIndex, lesson: Lesson) => Reading,
): Answerer {
  return (index, prediction: Prediction, lesson): Answer | null => {
    const lanes = prediction.arms.flatMap((arm) => index.lanes.filter((one) => one.arm === arm));
    if (lanes.length < prediction.arms.length) return null;
    if (lanes.some((lane) => lane.losses.length > 0)) return null;
    const found = read(lanes, index, lesson);
    return found === null ? null : { ...found, choice: choiceOf(prediction, found.value) };
  };
}

/** Number of CPUs in the mail's measurement. */
const mailCpus = 20;

export const answers: Readonly<Record<string, Answerer>> = {
  name_reads: answer(([lane], _index, lesson) => {
    const totals = lane === undefined ? null : totalsOf(lane);
    const n = totals?.nameReads ?? null;
    if (totals === null || !totals.exact || n === null) return null;
    const name = capital(armTitle(lesson, lane!));
    const reads = n === 1 ? t('1 read') : t('{n} reads', { n: formatFigure(n) });
    return {
      value: n,
      words: t('{name}: {reads} per {op}, counted in {ops}.', {
        name,
        reads,
        op: lesson.operation.name,
        ops: operationWords(totals.ops, lesson),
      }),
    };
  }),
  predicted_ratio: answer(([one, other], index, lesson) => {
    const settings = { ...settingsOf(index.params, lesson), cpus: mailCpus };
    const value = predictedRatio(other, one, settings);
    if (value === null) return null;
    const words = t('With {cpus} CPUs, the model predicts {value} times as many on {name}.', {
      value: formatFigure(value),
      name: armTitle(lesson, one!),
      cpus: mailCpus,
    });
    return { value, words, by: 'model' };
  }),
  slow_after: answer(([lane], index, lesson) => {
    const phase = phasesOf(index).find((one) => one.name === 'after');
    if (phase === undefined || lane === undefined) return null;
    const slow = slowShare(shareIn(intervalsOf(lane), phase.t0, phase.t1));
    if (slow === null || (!lane.ended && lane.watermark < phase.t1)) return null;
    const words = t(
      '{name}: of the operations after the listing, {slow} % took the lock, counted.',
      { name: capital(armTitle(lesson, lane)), slow: formatFigure(slow * 100) },
    );
    return { value: slow * 100, words };
  }),
};

type Head = readonly [title: string, evidence: 'counted' | 'modelled'];

interface Columns {
  /** Name of the line in the column heads, such as "count’s line"; empty if the lane has no such line. */
  readonly lineWords: string;
  /** Whether the line has plain writes, which are writes other than read-modify-writes. */
  readonly plain: boolean;
  readonly named: boolean;
  /** Number of CPUs in the model; 0 if the run has as many CPUs as the model. */
  readonly cpus: number;
}

/**
 * Column heads of the first act. Columns about the written line and the name are present only if the lanes have a
 * written line and a name.
 */
function lineHeads({ operation }: Lesson, { lineWords, plain, named, cpus }: Columns): Head[] {
  const { name, plural: many } = operation;
  const on = cpus === 0 ? '' : t(' on {cpus, plural, one {# CPU} other {# CPUs}}', { cpus });
  const of: Head[] = [
    [t('reads of the {line} per {name}, in the whole run', { line: lineWords, name }), 'counted'],
    ...(plain
      ? [
          [
            t('plain writes of this line per {name}, in the whole run', { name }),
            'counted',
          ] as const,
        ]
      : []),
    [t('read-modify-writes of this line per {name}, in the whole run', { name }), 'counted'],
  ];
  return [
    ...(lineWords === '' ? [] : of),
    ...(named
      ? [
          [
            t('reads of this line to compare the name, per {name}, in the whole run', { name }),
            'counted',
          ] as const,
        ]
      : []),
    [t('{many} counted in the whole run', { many }), 'counted'],
    [t('{many} of the model so far', { many }), 'modelled'],
    [t('transfers per {name}{on}, so far', { name, on }), 'modelled'],
    [t('transfers per {name}{on}, in the whole run', { name, on }), 'modelled'],
  ];
}

const lockHeads = [
  [t('by compare-and-swap'), 'counted'],
  [t('under the lock'), 'counted'],
  [t('under the lock, %'), 'counted'],
  [t('failed compare-and-swaps: another CPU came first'), 'counted'],
] as const;

function table(heads: readonly Head[], rows: Counts['rows']): Counts {
  return { heads: heads.map(([head]) => head), evidence: heads.map(([, of]) => of), rows };
}

/** Accesses to a line, by class. Plain writes are rare. */
const all = ['reads', 'writes', 'rmws'] as const;
const common = ['reads', 'rmws'] as const;

export function counts(index: RunIndex, frame: Frame, lesson: Lesson): Counts {
  if (index.axis === null) return table(lockHeads, lockCounts(index, frame));
  const structs = index.lanes.map((lane) => structOf(lane));
  const lineWords = structs.find((one) => one?.hot)?.hot?.lineWords.replace("'", '’') ?? '';
  const named = structs.some((one) => one?.name);
  const plain = index.lanes.some((lane) => (totalsOf(lane)?.hot?.writes ?? 0) > 0.004);
  const { cpus } = settingsOf(index.params, lesson);
  const same = index.lanes.every((lane) => countedOf(lane).cpus.length === cpus);
  const rows = index.lanes.map((lane): [string, string[]] => {
    const shown = laneNow({ index, frame, lesson }, lane);
    const totals = totalsOf(lane);
    if (totals === null || shown.model === null) return [lane.arm, []];
    const { hot, nameReads } = totals;
    const of = (what: string, n: number | null | undefined, text?: string) =>
      n == null
        ? '–'
        : lane.ended
          ? figure('run', lane.arm, what, n, text ?? formatFigure(n))
          : stillRead;
    const { ops } = soFar(shown);
    return [
      lane.arm,
      [
        ...(lineWords === ''
          ? []
          : (plain ? all : common).map((name) => of(`hot ${name}`, hot?.[name]))),
        ...(named ? [of('name reads', nameReads)] : []),
        of('ops counted', totals.ops, formatCount(totals.ops)),
        far(shown, 'ops', formatFigure(ops)),
        perStatWords(shown),
        perStatWhole(shown),
      ],
    ];
  });
  const columns = { lineWords, plain, named, cpus: same ? 0 : cpus };
  return table(lineHeads(lesson, columns), new Map(rows));
}

function lockCounts(index: RunIndex, frame: Frame): Counts['rows'] {
  return new Map(
    index.lanes.map((lane): [string, string[]] => {
      const now = laneTime(frame.offset, lane.arm, frame.moment);
      const { fast, slow, retries, over } = shareIn(intervalsOf(lane), 0, now, now);
      const share = slowShare({ fast, slow });
      if (over === 0) return [lane.arm, []];
      const of = (what: string, n: number, text?: string) => figure('far', lane.arm, what, n, text);
      const percent =
        share === null ? '–' : of('percent slow', share * 100, formatFigure(share * 100));
      return [lane.arm, [of('fast', fast), of('slow', slow), percent, of('retries', retries)]];
    }),
  );
}

const mostNearby = 50;

/**
 * Rows of at most 50 accesses, or samples of the counters, before the current moment. The limit applies to all lanes
 * together.
 */
export function nearby(index: RunIndex, frame: Frame, lesson: Lesson): NearbyRow[] {
  const each = Math.floor(mostNearby / Math.max(1, index.lanes.length));
  const of = index.axis === null ? looksNear : accessesNear;
  return index.lanes.flatMap((lane) => of(index, frame, lesson, lane, each));
}

const verbs = [t('reads'), t('writes'), t('reads and writes')];
const happened = {
  hit: t('has the line'),
  fetch: t('from memory, modelled'),
  transfer: t('transfer, modelled'),
  upgrade: t('upgrade, modelled'),
} as const;

function accessesNear(
  index: RunIndex,
  frame: Frame,
  lesson: Lesson,
  lane: LaneIndex,
  most: number,
): NearbyRow[] {
  const shown = laneNow({ index, frame, lesson }, lane);
  if (shown.model === null) return [];
  const shift = frame.offset.get(lane.arm) ?? 0;
  const rows: NearbyRow[] = [];
  for (let k = Math.max(0, shown.done - most); k < shown.done; k++) {
    const access = accessAt(lane, shown.model, k);
    const t0 = ns((k + 1) * stepNs + shift);
    const what = happening(access);
    const name = what === 'hit' ? (accessKinds[access.kind] ?? 'read') : what;
    const id = lane.points.id[access.point]!;
    const by = functionName(lane, access.func);
    rows.push({
      mark: {
        arm: lane.arm,
        table: 'points',
        id,
        row: k,
        kind: kindNumber(lesson, name),
        t0,
        t1: t0,
      },
      t0,
      when: momentWords(index.axis, t0),
      lane: armTitle(lesson, lane),
      row: t('line {line}, {field}', {
        line: access.line,
        field: fieldWords(shown.struct, access.at, access.size),
      }),
      what: by
        ? t('{verb} in {by}(): {what}', { verb: verbs[access.kind], by, what: happened[what] })
        : t('{verb}: {what}', { verb: verbs[access.kind], what: happened[what] }),
      length: `${lesson.operation.name} ${formatCount(access.op)}`,
      cpu: String(access.cpu),
    });
  }
  return rows;
}

function looksNear(
  _index: RunIndex,
  frame: Frame,
  lesson: Lesson,
  lane: LaneIndex,
  most: number,
): NearbyRow[] {
  const now = laneTime(frame.offset, lane.arm, frame.moment);
  const shift = frame.offset.get(lane.arm) ?? 0;
  const past = intervalsOf(lane).flatMap((one, row) => (one.t1 <= now ? [{ one, row }] : []));
  return past.slice(-most).flatMap(({ one, row }): NearbyRow[] => {
    const slow = slowShare(one);
    const mark = intervalMark(lane, lesson, row, (slow ?? 0) >= 0.5 ? 'under_lock' : 'by_cas');
    if (mark === null) return [];
    const rate = rateOf({ ...one, over: one.t1 - one.t0 }) ?? 0;
    const share =
      slow === null
        ? t('no operation')
        : t('{slow} % under the lock', { slow: formatFigure(slow * 100) });
    return [
      {
        mark,
        t0: ns(one.t0 + shift),
        when: momentWords(null, one.t0 + shift),
        lane: armTitle(lesson, lane),
        row: 'lockref',
        what: t('{share}, {rate} operations per second', { share, rate: formatCount(rate) }),
        length: '',
        cpu: '',
      },
    ];
  });
}
