// SPDX-License-Identifier: GPL-2.0-or-later
/** What the toy of fields plays with: fields of the object, and each CPU's own accesses to them, out of a run or chosen. */

import type { RunIndex } from '../../../derive/types.ts';
import type { Lesson } from '../../../protocol/lesson.ts';
import { type Struct, structOf } from '../fields.ts';
import { partOf, workOf } from '../model/stated.ts';
import { type AccessStream, modifies, reads } from '../model/types.ts';
import { type ModelSettings, settingsOf } from '../settings.ts';
import { countedOf } from '../streams.ts';
import type { ToyField } from './lay.ts';

/** One CPU's accesses; `line` of the stream is not used. */
export interface FieldStream {
  readonly stream: AccessStream;
  /** Number of the field of each access; -1: of none. */
  readonly field: Int16Array;
  /** Bytes of the field before it. */
  readonly offset: Uint16Array;
}

export interface Stats {
  readonly fields: readonly ToyField[];
  readonly streams: readonly FieldStream[];
  /** Whole operations of each stream. */
  readonly ops: number;
  /** Letters of the name that is compared. */
  readonly letters: number;
  /** Names of the fields as the other kernel has them. */
  readonly other: readonly string[];
  readonly settings: ModelSettings;
  readonly counted: boolean;
}

/** struct dentry of 6.1, pahole; d_wait lies in d_lru. */
const dentry: readonly (readonly [string, number])[] = [
  ['d_flags', 4],
  ['d_seq', 4],
  ['d_hash', 16],
  ['d_parent', 8],
  ['d_name', 16],
  ['d_inode', 8],
  ['d_iname', 32],
  ['d_lockref', 8],
  ['d_op', 8],
  ['d_sb', 8],
  ['d_time', 8],
  ['d_fsdata', 8],
  ['d_lru', 16],
  ['d_child', 16],
  ['d_subdirs', 16],
  ['d_u', 16],
];
const roles: Readonly<Record<string, ToyField['role']>> = {
  d_iname: 'name',
  d_lockref: 'count',
  d_seq: 'chain',
  d_hash: 'chain',
  d_parent: 'chain',
  d_name: 'chain',
};

/** One stat as it was counted on a name of 24 letters: function, and its fields with the bytes before; "!" writes. */
const stat: readonly (readonly [string, string])[] = [
  ['__d_lookup_rcu', 'seq parent hash+8 name name+8 iname iname+8 iname+16'],
  ['lookup_fast', 'flags'],
  ['step_into', 'flags inode seq'],
  ['lockref_get_not_dead', 'lockref lockref!'],
  ['__legitimize_path', 'seq'],
  ['try_to_unlazy', 'inode'],
  ['vfs_getattr_nosec', 'inode'],
  ['shmem_getattr', 'inode'],
  ['dput', 'flags'],
  ['lockref_put_or_lock', 'lockref lockref!'],
];

export function statsOf(index: RunIndex | null, lesson: Lesson): Stats {
  const lane = index?.lanes[0];
  const struct = lane && structOf(lane);
  const counted = lane && countedOf(lane);
  const settings = settingsOf(index?.params ?? {}, lesson);
  if (!lane || !struct?.name || !struct.hot || !counted || counted.ops === 0 || !counted.placed)
    return chosen(settings);
  const fields = struct.fields.map(({ name, size, role }) => ({ name, size, role }));
  const streams = counted.streams.map((stream, s): FieldStream => {
    const places = Array.from(counted.source[s]!, (p) => lane.points.a[p]! + counted.lead);
    return {
      stream,
      field: Int16Array.from(places, (at) => struct.fieldAt[at] ?? -1),
      offset: Uint16Array.from(
        places,
        (at) => at - (struct.fields[struct.fieldAt[at] ?? -1]?.at ?? 0),
      ),
    };
  });
  const { length } = struct.name;
  const last = index?.lanes.at(-1);
  const other = namesOf((last && structOf(last)) ?? struct, struct);
  return { fields, streams, ops: counted.ops, letters: length, other, settings, counted: true };
}

/** The fields as another kernel has them; where that is not shown, the count behind d_lru, as the patch has it. */
function namesOf(other: Struct, own: Struct): readonly string[] {
  const names = other.fields.map(({ name }) => name);
  const same = new Set(names).size === own.fields.length && other.hot?.at !== own.hot?.at;
  return same ? names : countMoved(own.fields.map(({ name }) => name));
}

function countMoved(names: readonly string[]): readonly string[] {
  return names.flatMap((name) =>
    name === 'd_lockref' ? [] : name === 'd_lru' ? [name, 'd_lockref'] : [name],
  );
}

function chosen(settings: ModelSettings): Stats {
  const fields = dentry.map(([name, size]) => ({ name, size, role: roles[name] ?? 'plain' }));
  const steps = stat.flatMap(([by, all]) => all.split(' ').map((word) => ({ by, word })));
  const weights = workOf(steps.map(({ by }) => by));
  const sum = weights.reduce((a, b) => a + b, 0);
  const stream: AccessStream = {
    line: new Uint8Array(steps.length),
    kind: Uint8Array.from(steps, ({ word }) => (word.endsWith('!') ? modifies : reads)),
    op: new Uint32Array(steps.length).fill(1),
    work: Float64Array.from(weights, (weight) => weight / sum),
    part: Uint8Array.from(steps, ({ by }) => partOf(by)),
  };
  const places = steps.map(({ word }) => word.replace('!', '').split('+'));
  const one: FieldStream = {
    stream,
    field: Int16Array.from(places, ([name]) => dentry.findIndex(([id]) => id === `d_${name}`)),
    offset: Uint16Array.from(places, ([, offset]) => Number(offset ?? 0)),
  };
  return {
    fields,
    streams: [one, one],
    ops: 500,
    letters: 24,
    other: countMoved(dentry.map(([name]) => name)),
    settings,
    counted: false,
  };
}
