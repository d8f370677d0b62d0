// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * The toy about cache lines. A viewer chooses the order and sizes of the fields, sees their lines, and tries to beat
 * the merged layout.
 */

import { t } from '@page/base/lang/t.ts';
import { formatFigure } from '@page/base/units.ts';
import type { RunIndex } from '@page/derive/types.ts';
import { armTitle } from '@page/derive/words.ts';
import type { Lesson } from '@page/protocol/lesson.ts';
import type {
  Part,
  Tile,
  TileGame,
  TilePlay,
  TileSetting,
  TileToy,
} from '@page/toys/tiles/types.ts';
import type { Face } from '@page/toys/types.ts';
import { lineBytes, type Role, type Struct, structOf } from './fields.ts';
import { type AccessStream, modifies, reads, simulate } from './model/coherence.ts';
import { interleave } from './model/interleave.ts';
import { partOf, workOf } from './model/stated.ts';
import { askedFor, spreadOver } from './model/streams.ts';
import { countedOf, type ModelSettings, settingsOf } from './model.ts';

// Lays out fields as a compiler does: each field is at a multiple of its alignment, with holes where needed.

interface ToyField {
  readonly name: string;
  readonly size: number;
  readonly role: Role;
}

interface Laid {
  /** Place of each field's first byte. */
  readonly at: ReadonlyMap<string, number>;
  /** Fields and holes, in order of place. */
  readonly runs: readonly {
    readonly field: string | null;
    readonly at: number;
    readonly size: number;
  }[];
  readonly bytes: number;
  readonly lines: number;
}

/** Alignment of the struct, which is the largest alignment of its fields. */
const most = 8;

/**
 * Alignment of a field of struct dentry. The struct has four-byte numbers, pointers, pairs of pointers, and an array of
 * bytes.
 */
function alignOf({ size, role }: ToyField): number {
  return role === 'name' ? 1 : Math.min(most, size);
}

export function lay(fields: readonly ToyField[]): Laid {
  const at = new Map<string, number>();
  const runs: { field: string | null; at: number; size: number }[] = [];
  let end = 0;
  const upTo = (place: number) => {
    if (place > end) runs.push({ field: null, at: end, size: place - end });
    end = place;
  };
  for (const field of fields) {
    const align = alignOf(field);
    upTo(Math.ceil(end / align) * align);
    at.set(field.name, end);
    runs.push({ field: field.name, at: end, size: field.size });
    end += field.size;
  }
  upTo(Math.ceil(end / most) * most);
  return { at, runs, bytes: end, lines: Math.ceil(end / lineBytes) };
}

/**
 * Data of the toy: the object's fields, and each CPU's accesses to these fields. The data come from a run or are
 * invented.
 */

/** Accesses of one CPU. The stream's `line` is not used. */
interface FieldStream {
  readonly stream: AccessStream;
  /** For each access, the index of its field; -1 if the access is outside all fields. */
  readonly field: Int16Array;
  /** For each access, its offset in the field, in bytes. */
  readonly offset: Uint16Array;
}

interface Stats {
  readonly fields: readonly ToyField[];
  readonly streams: readonly FieldStream[];
  /** Number of complete operations in each stream. */
  readonly ops: number;
  /** Number of letters in the name that is compared. */
  readonly letters: number;
  /** Names of the fields in the other kernel's order. */
  readonly other: readonly string[];
  readonly settings: ModelSettings;
  readonly counted: boolean;
}

/** Fields and sizes of struct dentry of 6.1, from pahole. d_wait is in a union with d_lru. */
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

/**
 * Accesses of a counted stat of a 24-letter name, by function: the field, and after "+" the offset in the field. "!"
 * means a write.
 */
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

/**
 * The fields in the other kernel's order. If the other kernel is not displayed, the count is after d_lru, as in the
 * patch.
 */
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

/**
 * Cost of an order of fields, which is the number of transfers per operation in the lesson's model of the counted
 * accesses.
 */

interface Layout {
  readonly fields: readonly ToyField[];
  readonly laid: Laid;
  /** Whether the name does not fit, so that the name is stored outside the object, in a line that is not written. */
  readonly outside: boolean;
}

/** @param name size of the name's field in bytes, including the byte that ends the name */
export function layoutOf(stats: Stats, order: readonly string[], name: number): Layout {
  const fields = order.flatMap((id) => {
    const field = stats.fields.find((one) => one.name === id);
    return field ? [field.role === 'name' ? { ...field, size: name } : field] : [];
  });
  return { fields, laid: lay(fields), outside: stats.letters >= name };
}

/**
 * The line of each access in a layout. The line of an access is the line of its first byte, because no field of the
 * object crosses lines.
 */
function linesUnder({ fields }: Stats, { laid, outside }: Layout, { field, offset }: FieldStream) {
  const places = fields.map(({ name, role }) =>
    role === 'name' && outside ? (laid.lines + 1) * lineBytes : (laid.at.get(name) ?? 0),
  );
  // Accesses outside all fields have a separate line.
  return Uint8Array.from(field, (f, i) =>
    f < 0 ? laid.lines : Math.floor((places[f]! + offset[i]!) / lineBytes),
  );
}

/** Maximum total number of operations of all CPUs, as large as in the picture's model with two CPUs. */
const atMost = 2000;

/** Transfers per operation, including the cold start. The picture counts in the same way. */
export function transfersOf(stats: Stats, layout: Layout, cpus: number): number {
  const { settings } = stats;
  const streams = stats.streams.map((one) => ({
    ...one.stream,
    line: linesUnder(stats, layout, one),
  }));
  const ops = Math.min(stats.ops, Math.ceil(atMost / cpus));
  const spread = spreadOver(askedFor(streams, settings.owning), cpus, ops);
  const { transfers, ops: done } = simulate(
    interleave(spread, settings, settings.seed),
    settings.protocol,
  ).totals;
  return transfers / done;
}

/** Largest difference, in transfers per operation, that counts as chance. */
const chance = 0.01;

const faces: Readonly<Record<Role, Face>> = {
  name: 'work',
  count: 'mechanism',
  chain: 'other',
  plain: 'idle',
};

interface Score {
  readonly mine: number;
  readonly stock: number;
  readonly other: number;
}

/** Data for the comparison of layouts. In stock's and upstream's layout, the name's field is as large as in the run. */
export interface Bench {
  readonly stats: Stats;
  readonly order: readonly string[];
  readonly name: number;
  readonly otherTitle: string;
  readonly known: Map<string, number>;
}

export function benchOf(stats: Stats, otherTitle: string): Bench {
  const order = stats.fields.map(({ name }) => name);
  const name = stats.fields.find(({ role }) => role === 'name')!.size;
  return { stats, order, name, otherTitle, known: new Map() };
}

export function scored(bench: Bench, order: readonly string[], name: number, cpus: number): number {
  const key = `${order} ${name} ${cpus}`;
  const value =
    bench.known.get(key) ?? transfersOf(bench.stats, layoutOf(bench.stats, order, name), cpus);
  bench.known.set(key, value);
  return value;
}

function hotLine({ laid, fields }: Layout): number {
  const hot = fields.find(({ role }) => role === 'count');
  return Math.floor((laid.at.get(hot?.name ?? '') ?? 0) / lineBytes);
}

/** Number of bytes of the name's field that a comparison reads. */
function comparedBytes({ letters }: Stats, { outside }: Layout): number {
  return outside ? 0 : Math.ceil(letters / 8) * 8;
}

export function playFields(bench: Bench, setting: TileSetting): TilePlay {
  const { stats, order, name } = bench;
  const { cpus, name: long } = setting.amounts as { cpus: number; name: number };
  const layout = layoutOf(stats, setting.order, long);
  const score: Score = {
    mine: scored(bench, setting.order, long, cpus),
    stock: scored(bench, order, name, cpus),
    other: scored(bench, stats.other, name, cpus),
  };
  const { bytes, lines } = layout.laid;
  const bar = (id: string, title: string, value: number, face: Face) => ({
    name: id,
    title,
    value,
    words: t('{value} transfers per stat', { value: formatFigure(value) }),
    face,
  });
  return {
    shelf: {
      name: 'fields',
      title: t('Your struct'),
      verdict: t(
        '{bytes} bytes, {lines, plural, one {# line} other {# lines}} of {size}; the count at byte {count}',
        { bytes, lines, size: lineBytes, count: countAt(layout) },
      ),
      cells: lineBytes,
      folds: 2,
      rows: Array.from({ length: lines }, (_, i) => t('line {i}', { i })),
      tiles: tilesOf(bench, layout),
    },
    results: [],
    barsTitle: t(
      'Lines that come from another CPU, {cpus, plural, one {# CPU} other {# CPUs}}, modelled',
      { cpus },
    ),
    bars: [
      bar('stock', t('stock'), score.stock, 'wait'),
      bar('other', t('upstream ({title})', { title: bench.otherTitle }), score.other, 'wait'),
      bar('mine', t('yours'), score.mine, score.mine <= score.other + chance ? 'gain' : 'hazard'),
    ],
    outcome: outcome(bench, layout, score),
    reached: reached(bench, setting, layout, score),
  };
}

function countAt({ laid, fields }: Layout): number {
  return laid.at.get(fields.find(({ role }) => role === 'count')?.name ?? '') ?? 0;
}

function tilesOf({ stats }: Bench, layout: Layout): Tile[] {
  const hot = hotLine(layout);
  const touched = touchedFields(stats);
  return layout.laid.runs.map(({ field: id, at, size }, i): Tile => {
    const field = layout.fields.find(({ name }) => name === id);
    if (field === undefined)
      return {
        id: `hole ${i}`,
        gap: true,
        says: t('a hole of {size} bytes', { size }),
        parts: [{ size, label: '', face: 'idle', look: 'hollow' }],
      };
    const lines = [Math.floor(at / lineBytes), Math.floor((at + size - 1) / lineBytes)];
    const where =
      lines[0] === lines[1]
        ? t('line {line}', { line: lines[0] })
        : t('lines {first} and {last}', { first: lines[0], last: lines[1] });
    const read = touched.has(field.name) ? '' : t(', not touched by a stat');
    return {
      id: field.name,
      says: t('{name}, {size, plural, one {# byte} other {# bytes}} from {at}, {where}{read}', {
        name: field.name,
        size,
        at,
        where,
        read,
      }),
      parts:
        field.role === 'name'
          ? nameParts(stats, layout, at, size, hot)
          : [
              {
                size,
                label: field.name,
                ...lookOf(field.role, touched.has(field.name), lines, hot),
              },
            ],
    };
  });
}

function lookOf(
  role: Role,
  touched: boolean,
  lines: readonly number[],
  hot: number,
): Pick<Part, 'face' | 'look'> {
  if (role === 'count') return { face: 'mechanism', look: 'solid' };
  if (!touched) return { face: 'idle', look: 'solid' };
  return lines.includes(hot)
    ? { face: 'hazard', look: 'hatched' }
    : { face: faces[role] === 'idle' ? 'work' : faces[role], look: 'solid' };
}

/** Split the name's field into parts: compared bytes in the count's line, other compared bytes, and the rest. */
function nameParts(stats: Stats, layout: Layout, at: number, size: number, hot: number): Part[] {
  const compared = Math.min(size, comparedBytes(stats, layout));
  const parts: Part[] = [];
  for (let from = 0; from < compared; ) {
    const line = Math.floor((at + from) / lineBytes);
    const to = Math.min(compared, (line + 1) * lineBytes - at);
    parts.push({
      size: to - from,
      label: 'd_iname',
      face: line === hot ? 'hazard' : 'work',
      look: line === hot ? 'hatched' : 'solid',
    });
    from = to;
  }
  if (size > compared)
    parts.push({
      size: size - compared,
      label: compared === 0 ? 'd_iname' : '',
      face: 'idle',
      look: 'solid',
    });
  return parts;
}

/** Names of the fields that an operation reads or writes. */
function touchedFields({ fields, streams }: Stats): ReadonlySet<string> {
  return new Set(
    streams.flatMap(({ field }) => [...new Set(field)].map((f) => fields[f]?.name ?? '')),
  );
}

/** Names of the fields that a stat reads in the count's line. The count is left out. */
function guests(stats: Stats, layout: Layout): string[] {
  const hot = hotLine(layout);
  const touched = touchedFields(stats);
  return layout.fields.flatMap(({ name, role, size }) => {
    const at = layout.laid.at.get(name)!;
    const used = role === 'name' ? Math.min(size, comparedBytes(stats, layout)) : size;
    const [first, last] = [Math.floor(at / lineBytes), Math.floor((at + used - 1) / lineBytes)];
    return role !== 'count' && touched.has(name) && used > 0 && first <= hot && hot <= last
      ? [name]
      : [];
  });
}

function outcome(bench: Bench, layout: Layout, score: Score): TilePlay['outcome'] {
  const { stats } = bench;
  const with_ = guests(stats, layout);
  const why =
    with_.length === 0
      ? t(
          "No field that a stat reads is in the count's line, so only the count itself still travels.",
        )
      : t(
          "A stat also reads {fields} in the count's line, and a CPU loses these fields whenever another CPU changes the count. This effect is false sharing.",
          { fields: with_.join(', ') },
        );
  const outside = layout.outside
    ? t(
        ' A name of {letters} letters does not fit, so the name is stored outside the struct. Each name outside the struct takes extra memory.',
        { letters: stats.letters },
      )
    : '';
  const than =
    score.mine < score.other - chance
      ? t("Fewer transfers than upstream's layout.")
      : score.mine <= score.other + chance
        ? t("As few transfers as upstream's layout.")
        : score.mine < score.stock - chance
          ? t("Fewer transfers than stock, more than upstream's layout.")
          : score.mine <= score.stock + chance
            ? t('As many transfers as stock.')
            : t('More transfers than stock.');
  const face = score.mine <= score.other + chance ? 'gain' : 'hazard';
  return { words: `${than} ${why}${outside}`, face };
}

function reached(bench: Bench, setting: TileSetting, layout: Layout, score: Score): string[] {
  const { stats, order } = bench;
  const asFew = score.mine <= score.other + chance;
  const stockLine = hotLine(layoutOf(stats, order, bench.name));
  const sameOrder = setting.order.join() === order.join();
  return [
    ...(score.mine < score.stock - chance ? ['stock'] : []),
    ...(asFew && hotLine(layout) === stockLine ? ['line'] : []),
    ...(asFew && sameOrder ? ['sizes'] : []),
    ...(score.mine < score.other - chance ? ['beat'] : []),
  ];
}

/**
 * For each field that a stat reads, return the additional transfers if only this field is in the count's line. The
 * field with the fewest additional transfers comes first.
 */
export function added(bench: Bench, cpus: number): readonly (readonly [string, number])[] {
  const { stats } = bench;
  const none = scored(bench, stats.other, bench.name, cpus);
  const touched = touchedFields(stats);
  const count = stats.fields.find(({ role }) => role === 'count')!.name;
  const plain = stats.fields.filter(({ name }) => !touched.has(name)).map(({ name }) => name);
  const read = stats.fields.flatMap(({ name, role }) =>
    touched.has(name) && role !== 'count' && role !== 'name' ? [name] : [],
  );
  const name = stats.fields.filter(({ role }) => role === 'name').map((one) => one.name);
  return read
    .map((one) => {
      // This order puts only the field `one` next to the count, and all other read fields at the start.
      const rest = read.filter((field) => field !== one);
      const order = [...rest, ...name, ...plain, one, count];
      return [one, scored(bench, order, 64, cpus) - none] as const;
    })
    .sort((a, b) => a[1] - b[1]);
}

function gameOf(stats: Stats, otherTitle: string): TileGame {
  const bench = benchOf(stats, otherTitle);
  const { order, name } = bench;
  const cpus = Math.max(2, Math.min(20, stats.settings.cpus));
  const start: TileSetting = { order, marks: {}, amounts: { cpus, name } };
  const goal = (id: string, title: string, can: () => string) => ({ name: id, title, can });
  return {
    from: stats.counted
      ? t(
          'the fields, and {ops} complete stats on each of {cpus, plural, one {# CPU} other {# CPUs}}. In your layout, each access is moved with its field. No kernel ran with your layout',
          { ops: stats.ops, cpus: stats.streams.length },
        )
      : null,
    start,
    amounts: [
      {
        name: 'name',
        title: t('bytes of d_iname'),
        min: 16,
        max: 80,
        step: 8,
        words: (n) => t('{n}, up to {letters} letters', { n, letters: n - 1 }),
      },
      {
        name: 'cpus',
        title: t('CPUs that stat the file'),
        min: 2,
        max: 20,
        step: 1,
        words: String,
      },
    ],
    presets: [
      { title: t('as stock'), setting: start },
      { title: t('as upstream'), setting: { ...start, order: stats.other } },
    ],
    play: (setting) => playFields(bench, setting),
    goals: [
      goal('stock', t('Fewer transfers than stock.'), () =>
        t('Yes: any layout that separates d_lockref from the end of the name.'),
      ),
      goal(
        'line',
        t("As few transfers as upstream's layout, with d_lockref in the line where stock has it."),
        () =>
          t(
            "Yes: the end of the name must leave the count's line, and no other field that a stat reads may move into that line.",
          ),
      ),
      goal(
        'sizes',
        t(
          "As few transfers as upstream's layout, but in stock's field order: change only the size of d_iname.",
        ),
        () => t('Yes, in two ways: with a smaller or a larger d_iname. Both ways cost memory.'),
      ),
      goal('beat', t("Fewer transfers than upstream's layout."), () => {
        const [least] = added(bench, cpus);
        return t(
          "No. In upstream's layout the count's line has no field that a stat reads, so only the count travels. Each field that a stat reads was tried in the count's line in turn. {least} adds the fewest transfers: {more} per stat with {cpus, plural, one {# CPU} other {# CPUs}}.",
          { least: least?.[0], more: formatFigure(least?.[1] ?? 0), cpus },
        );
      }),
    ],
  };
}

export const fields: TileToy = {
  form: 'tiles',
  title: t('Lay out the struct'),
  ask: t(
    'Every stat of a file adds one to d_lockref and subtracts one again. Each time, the other CPUs lose the complete line. Move fields and change sizes until as few lines as possible travel. Try to beat the layout that upstream merged.',
  ),
  leavesOut: t(
    "Upstream's layout here is that of 6.1 with d_lockref after d_lru. In 6.11 names have 40 bytes, and d_lockref is at byte 128. Each object begins at the start of a line. An access reads one line, writes it, or does both. The model has the numbers of this lesson. It leaves out code that uses the other fields, although a new layout may slow that code down.",
  ),
  hand: 'order',
  open(index, lesson) {
    const stats = statsOf(index, lesson);
    const last = index?.lanes.at(-1);
    const shown = last !== undefined && (index?.lanes.length ?? 0) > 1;
    return gameOf(stats, shown ? armTitle(lesson, last) : t('d_lockref behind d_lru'));
  },
};
