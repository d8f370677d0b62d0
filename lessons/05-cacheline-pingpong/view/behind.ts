// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Sources of a mark. No mark of this view comes from a single trace event. The microscope counted the accesses, and the
 * model merged them into one order. The x-ray read the object and the second act's counters.
 */

import { t as tr } from '@page/base/lang/t.ts';
import { formatCount, ns } from '@page/base/units.ts';
import { type Behind, type BehindRow, mostRows } from '@page/derive/behind.ts';
import { laneOf } from '@page/derive/query.ts';
import type { Frame, Mark, RunIndex } from '@page/derive/types.ts';
import type { Lesson } from '@page/protocol/lesson.ts';
import { functionName } from './counted.ts';
import { fieldWords, runsOf } from './fields.ts';
import { behindInterval } from './lock.ts';
import { accessKinds, partOfMark, perLine, verbs } from './marks.ts';
import { type Access, accessAt, happening, type LaneNow, laneNow } from './now.ts';

interface Found {
  readonly who: string;
  readonly how: string;
  readonly accesses: readonly Access[];
}

export function behindBytes(
  index: RunIndex,
  frame: Frame,
  lesson: Lesson,
  mark: Mark,
): Behind | null {
  const lane = laneOf(index, mark.arm);
  if (lane === null) return null;
  if (mark.table === 'samples') return behindInterval(lane, lesson, mark);
  const shown = laneNow({ index, frame, lesson }, lane);
  const kind = lesson.kinds[mark.kind];
  const { who, how, accesses } = found(shown, lesson, mark);
  const rows = accesses.map((access) => accessRow(shown, access));
  const t = rows.at(-1)?.t ?? ns(0);
  return {
    arm: lane.arm,
    title: kind?.title ?? tr('a mark'),
    who,
    t0: t,
    t1: t,
    evidence: kind?.evidence ?? 'counted',
    how,
    rows,
    trace: null,
  };
}

function found(shown: LaneNow, lesson: Lesson, mark: Mark): Found {
  switch (partOfMark(lesson, mark)) {
    case 'byte':
      return ofBytes(shown, mark.row);
    case 'copy':
      return ofCopy(shown, Math.floor(mark.row / perLine), mark.row % perLine);
    case 'executed':
      return ofExecuted(shown, mark.row);
    default:
      return ofStep(shown, mark.row);
  }
}

function ofBytes(shown: LaneNow, at: number): Found {
  const { struct } = shown;
  const run =
    struct === null
      ? undefined
      : runsOf(struct)
          .flat()
          .find((one) => one.at === at);
  const size = run?.size ?? 1;
  const all = accessesWhere(shown, (a) => a.at < at + size && a.at + a.size > at);
  const n = formatCount(all.length);
  return {
    who: tr('{field}, line {line}', {
      field: fieldWords(struct, at, size),
      line: Math.floor(at / 64),
    }),
    how:
      all.length === 0
        ? tr(
            'The x-ray read these bytes in the running kernel; so far the microscope has counted no access to these bytes.',
          )
        : tr(
            'The x-ray read these bytes in the running kernel; so far the microscope has counted {n} accesses to these bytes, and {which}.',
            { n, which: lastWords(all.length) },
          ),
    accesses: all.slice(-mostRows),
  };
}

function ofCopy(shown: LaneNow, line: number, cpu: number): Found {
  const all = accessesWhere(shown, (a) => a.line === line && (a.cpu === cpu || a.lost > 0));
  return {
    who: tr('copy of line {line} in CPU {cpu}', { line, cpu }),
    how:
      all.length === 0
        ? tr(
            'Modelled: so far no counted access has brought this line to this CPU or removed the line from this CPU.',
          )
        : tr(
            'Modelled from {n} counted accesses to this line, by this CPU or by other CPUs that removed copies; {which}.',
            { n: formatCount(all.length), which: lastWords(all.length) },
          ),
    accesses: all.slice(-mostRows),
  };
}

function lastWords(n: number): string {
  return n > mostRows
    ? tr('the last {n} of these accesses are below, in the model’s order', { n: mostRows })
    : tr('these accesses are below, in the model’s order');
}

function ofExecuted({ lane, struct, counted }: LaneNow, k: number): Found {
  const point = lane.pointsOf('access').order[k] ?? 0;
  const { points } = lane;
  const access: Access = {
    ...{ k, point, cpu: points.cpu[point]!, op: points.e[point]!, line: 0, owns: false },
    ...{ at: points.a[point]! + (struct?.lead ?? counted.lead), size: points.b[point]! },
    ...{ kind: points.c[point]!, func: points.d[point]!, event: 0, from: -1, lost: 0 },
  };
  return {
    who: tr('access {k} as executed', { k: formatCount(k + 1) }),
    how: tr(
      "The microscope counted the accesses in the order in which QEMU's threads ran; that order is not a result.",
    ),
    accesses: [access],
  };
}

function ofStep(shown: LaneNow, k: number): Found {
  const { lane, model } = shown;
  if (model === null || k >= model.trace.log.length) return { who: '', how: '', accesses: [] };
  const access = accessAt(lane, model, k);
  const who = tr('access {k}, CPU {cpu}, line {line}', {
    k: formatCount(k + 1),
    cpu: access.cpu,
    line: access.line,
  });
  const what = happening(access);
  if (what === 'hit') {
    return {
      who,
      how: tr(
        'The microscope counted this access; its place among the accesses of other CPUs comes from the model.',
      ),
      accesses: [access],
    };
  }
  const before = accessBefore(shown, access);
  const { line } = access;
  return {
    who,
    how:
      before === null
        ? tr(
            'Modelled from one counted access: in the model’s order, no other CPU had line {line} before this access.',
            { line },
          )
        : tr(
            'Modelled from two counted accesses to line {line}: in the model’s order this access comes after the access of CPU {cpu}.',
            { line, cpu: before.cpu },
          ),
    accesses: before === null ? [access] : [before, access],
  };
}

/** The last access of another CPU to the line; null if there is none. */
function accessBefore({ lane, model }: LaneNow, { k, cpu, line }: Access): Access | null {
  const { log } = model!.trace;
  for (let i = k - 1; i >= 0; i--)
    if (log.line[i] === line && log.cpu[i] !== cpu) return accessAt(lane, model!, i);
  return null;
}

function accessesWhere(shown: LaneNow, fits: (access: Access) => boolean): Access[] {
  const { lane, model, done } = shown;
  if (model === null) return [];
  return Array.from({ length: done }, (_, k) => accessAt(lane, model, k)).filter(fits);
}

/** A counted access, with the time and the vCPU of the guest. */
function accessRow({ lane, struct }: LaneNow, access: Access): BehindRow {
  const vcpu = lane.points.cpu[access.point]!;
  const name = functionName(lane, access.func);
  const by = name === '' ? [] : [tr('in {name}()', { name })];
  const given =
    vcpu === access.cpu ? [] : [tr('given to CPU {cpu} of the model', { cpu: access.cpu })];
  return {
    t: lane.pointTime(access.point),
    cpu: vcpu,
    what: `${verbs[accessKinds[access.kind] ?? 'read']} ${fieldWords(struct, access.at, access.size)}`,
    fields: [...by, ...given].join(', '),
  };
}
