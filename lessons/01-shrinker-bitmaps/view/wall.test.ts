// SPDX-License-Identifier: GPL-2.0-or-later
/** Cells, hits and words out of a run made by hand. */

import { lightTheme } from '@page/base/theme.ts';
import { step, under } from '@page/views/items.ts';
import { namedTiles } from '@page/views/paints.ts';
import { recordingPen } from '@test/fixtures/pen.ts';
import { expect, test } from 'vitest';
import { costOf, guide, merged, parseCosts } from './cost-panel.tsx';
import { drawWalls, layoutOf, rowsOf, wallArtist } from './draw.ts';
import { after, type HandPoint, runOf, setUp, us, visit, wallLesson } from './fixtures/wall.ts';
import { cellBox } from './layout.ts';
import { cellOf } from './marks.ts';
import { codesOf, faces } from './paint.ts';
import { Count, wallOf } from './wall.ts';
import { answers, counts, sentences, table } from './words.ts';

const memcgs = [10, 11, 12];
const root = [visit(1, -1, 175), ...[0, 1, 2].map((id) => visit(1, id))];
/** One pass over everything: only shrinker 2 has something for the containers, and frees nothing. */
const fullPass = [
  ...root,
  ...memcgs.flatMap((m): HandPoint[] => [
    ...[0, 1, 2].map((id) => visit(m, id, id === 2 && m > 10 ? 0 : -2)),
    ['walk', m, 3, 3, 3, 3, 0],
  ]),
];
const grown: HandPoint = ['expanded', 2, 3, 4, 2];
/** The maps were grown after all memcgs: bits 0 and 1 of each are set for nothing. */
const clearing = memcgs.flatMap((m): HandPoint[] => [
  ...[0, 1].flatMap((id): HandPoint[] => [visit(m, id), ['cleared', m, id], visit(m, id, -2, 1)]),
  ...(m > 10 ? [visit(m, 2, 0)] : []),
]);
const before = [...setUp, grown, ['call'] as const, ...fullPass, ['call_end'] as const];
const bitmap = [...setUp, grown, ['call'] as const, ...root, ...clearing, ['call_end'] as const];
const third: HandPoint[] = [['call'], ...root, visit(11, 2, 0), visit(12, 2, 0), ['call_end']];

function faceOf(
  points: readonly HandPoint[],
  arm: string,
  events: number,
  lesson = wallLesson,
): string[] {
  const index = runOf({ [arm]: points });
  const wall = wallOf(index.lanes[0]!, lesson);
  const grid = { pitch: 1, tall: 1, rows: 3, cols: 3, rootGap: 0 };
  const cells = wall.at(events * us);
  const codes = codesOf(wall, cells, grid, { focus: new Set(), span: 0 }, 1e9, new Uint8Array(12));
  return Array.from({ length: 4 }, (_, row) =>
    [0, 1, 2].map((c) => faces[codes[row * 3 + c]! & 15]!.replace('visit_', '')).join(' '),
  );
}

test('before the first call both kernels have the same bits; on one nobody reads them', () => {
  const set = setUp.length + 1;
  expect(faceOf(before, 'before', set)).toEqual([
    'not_visited not_visited not_visited',
    'bit_unread bit_unread not_visited',
    'bit_unread bit_unread bit_unread',
    'bit_unread bit_unread bit_unread',
  ]);
  expect(faceOf(bitmap, 'after', set)[1]).toBe('bit bit not_visited');
});

test('what a viewer made of an arm reads what that arm reads', () => {
  const [walk] = wallLesson.arms;
  const patch_texts = [{ file: '', subject: '', body: '', text: '+' }];
  const own = { ...walk!, name: 'own-before-1', role: 'alternative' as const, patch_texts };
  const lesson = { ...wallLesson, arms: [...wallLesson.arms, own] };
  const set = setUp.length + 1;
  expect(faceOf(before, own.name, set, lesson)).toEqual(faceOf(before, 'before', set));
  expect(faceOf(before, 'after', set, lesson)[1]).toBe('bit bit not_visited');
});

test('the list walk visits all in vain but what has something, and clears nothing', () => {
  expect(faceOf(before, 'before', before.length)).toEqual([
    'root_visit root_visit root_visit',
    'vain vain vain',
    'vain vain busy',
    'vain vain busy',
  ]);
  const { n } = wallOf(runOf({ before }).lanes[0]!, wallLesson).at(1e9);
  expect([n[Count.visits], n[Count.vain], n[Count.bits], n[Count.rootVisits]]).toEqual([
    9, 7, 8, 4,
  ]);
});

test('the bitmap visits set bits, empty ones twice, and keeps those of objects', () => {
  expect(faceOf(bitmap, 'after', bitmap.length)).toEqual([
    'root_visit root_visit root_visit',
    'again again not_visited',
    'again again busy',
    'again again busy',
  ]);
  const { n } = wallOf(runOf({ after: bitmap }).lanes[0]!, wallLesson).at(1e9);
  expect([n[Count.visits], n[Count.again], n[Count.cleared], n[Count.bits]]).toEqual([14, 6, 6, 2]);
});

/** The same events from a kernel that tells neither second checks nor clears. */
const unreported = (points: readonly HandPoint[]): HandPoint[] =>
  points
    .filter(([name]) => name !== 'cleared')
    .map((point) => (point[0] === 'visit' ? visit(point[1]!, point[2]!, point[3]!, -1) : point));

test('second checks and clears that no event tells are inferred from visits', () => {
  const points = unreported(bitmap);
  expect(faceOf(points, 'after', points.length)).toEqual(faceOf(bitmap, 'after', bitmap.length));
  const index = runOf({ after: points });
  const { n } = wallOf(index.lanes[0]!, wallLesson).at(1e9);
  expect([n[Count.visits], n[Count.again], n[Count.cleared], n[Count.bits]]).toEqual([14, 6, 6, 2]);
  const checks = points.length - 2;
  expect(table(index, after(checks), wallLesson).at(-1)?.what).toMatch(/in vain, second check/);
});

test('a second check that finds an object is inferred; the bit is set again, and checked first next time', () => {
  const found: HandPoint[] = [visit(11, 2, -2, -1), visit(11, 2, 0, -1), ['set', 11, 2]];
  const points = [...setUp, ['call'] as const, ...found, ...unreported(root), visit(11, 2, 0, -1)];
  const { n } = wallOf(runOf({ after: points }).lanes[0]!, wallLesson).at(1e9);
  expect([n[Count.visits], n[Count.again], n[Count.cleared], n[Count.bits]]).toEqual([3, 1, 1, 2]);
});

test('a visit after a second check is a first check, and so is a visit after one that found an object', () => {
  const empty = Array.from({ length: 4 }, () => visit(11, 0, -2, -1));
  const found = Array.from({ length: 2 }, () => visit(11, 2, 0, -1));
  const points = [...setUp, ['call'] as const, ...empty, ...found];
  const { n } = wallOf(runOf({ after: points }).lanes[0]!, wallLesson).at(1e9);
  expect([n[Count.visits], n[Count.again], n[Count.cleared]]).toEqual([6, 2, 2]);
});

test('a visit of another thread does not separate a first check from its second check', () => {
  const other: HandPoint = ['visit', 12, 2, 0, -1, 0, 0, 7];
  const same: HandPoint = ['visit', 11, 2, -2, -1, 0, 0, 7];
  const points = [...setUp, ['call'] as const, visit(11, 2, -2, -1), other, visit(11, 2, -2, -1)];
  const againOf = (all: readonly HandPoint[]) =>
    wallOf(runOf({ after: all }).lanes[0]!, wallLesson).at(1e9).n[Count.again];
  expect(againOf(points)).toBe(1);
  expect(againOf([...setUp, ['call'], visit(11, 2, -2, -1), same])).toBe(0);
});

test('maps that grow and set no bit do not widen the wall', () => {
  const points: HandPoint[] = [
    ...setUp,
    ['expanded', 64, 128, -1, 0],
    ['call'],
    ...unreported(root),
  ];
  const wall = wallOf(runOf({ after: points }).lanes[0]!, wallLesson);
  const { n } = wall.at(1e9);
  expect(wall.replay.grid.cols).toBe(3);
  expect([n[Count.expanded], n[Count.bits]]).toEqual([1, 2]);
});

test('any moment is the same, whichever way it is reached', () => {
  const long = [...bitmap, ...Array.from({ length: 6000 }, () => third).flat()];
  const wall = wallOf(runOf({ after: long }).lanes[0]!, wallLesson);
  const look = (t: number, reader: string) => {
    const { seen, bit, pass, n } = wall.at(t * us, reader);
    return [...seen, ...bit, ...pass, ...n].join();
  };
  const moments = [20_000, 3, 40_000, 20_000, 17, 39_999];
  const straight = new Map([...moments].sort((a, b) => a - b).map((t) => [t, look(t, 'straight')]));
  for (const t of moments) expect(look(t, 'leaps')).toBe(straight.get(t));
});

test('a call forgets the visits of the one before; passes within it are distinguished', () => {
  const twice = [...setUp, ['call'] as const, ...fullPass, ...root];
  const wall = wallOf(runOf({ before: twice }).lanes[0]!, wallLesson);
  const cells = wall.at(1e9);
  expect(cells.n[Count.pass]).toBe(2);
  expect(cells.pass[wall.replay.grid.stride]).toBe(1);
  const next = wallOf(runOf({ before: [...before, ['call']] }).lanes[0]!, wallLesson).at(1e9);
  expect([...next.seen].some((s) => s > 0)).toBe(false);
  expect(next.n[Count.bits]).toBe(8);
});

test('where only walks are reported, a row fills when its walk ends', () => {
  const walks: HandPoint[] = memcgs.flatMap((m): HandPoint[] => [
    ['walk', m, 3, m > 10 ? 3 : 2, 3, 3, 0],
    ['outcome', m, m > 10 ? 2 : 3, 0, 0, 0],
  ]);
  const rootWalk: HandPoint[] = [
    ['walk', 1, 4, 0, 3, 3, 1],
    ['outcome', 1, 3, 0, 0, 175],
  ];
  const large = [...setUp, grown, ['call'] as const, ...rootWalk, ...walks];
  expect(faceOf(large, 'before', large.length - 2)).toEqual(
    ['vain vain vain', 'vain vain vain', 'vain vain busy', 'bit_unread bit_unread bit_unread'].map(
      (row, i) => (i === 0 ? 'root_visit root_visit root_visit' : row),
    ),
  );
  const first: HandPoint[] = memcgs.flatMap((m): HandPoint[] => [
    ['walk', m, m > 10 ? 5 : 4, m > 10 ? 3 : 2, 3, 3, 0],
    ['outcome', m, 4, 2, 2, 0],
  ]);
  const quick = [...setUp, grown, ['call'] as const, ...rootWalk, ...first];
  expect(faceOf(quick, 'after', quick.length).slice(1)).toEqual([
    'bit_cleared bit_cleared not_visited',
    'bit_cleared bit_cleared busy',
    'bit_cleared bit_cleared busy',
  ]);
});

test('pointing finds the cell; near its middle the bit that nobody reads', () => {
  const index = runOf({ before, after: bitmap });
  const size = { width: 900, height: 600, dpr: 1 };
  const drawing = {
    index,
    frame: after(40),
    size,
    lesson: wallLesson,
    theme: lightTheme,
  };
  const layout = layoutOf(drawing, 0, 13);
  const [left, right] = layout.lanes;
  expect(layout.lanes.length).toBe(2);
  expect(left!.wide).toBe(right!.wide);
  const box = cellBox(layout, left!, 2, 1);
  const kindAt = (x: number, y: number) => {
    const mark = under(rowsOf(layout, drawing), x, y);
    return mark && [mark.arm, index.kinds[mark.kind]!.name, cellOf(mark)];
  };
  expect(kindAt(box.x + box.wide / 2, box.y + box.high / 2)).toEqual([
    'before',
    'bit_unread',
    { row: 2, col: 1 },
  ]);
  expect(kindAt(box.x + 1, box.y + 1)).toEqual(['before', 'visit_vain', { row: 2, col: 1 }]);
  const other = cellBox(layout, right!, 1, 2);
  expect(kindAt(other.x + 1, other.y + 1)).toEqual(['after', 'not_visited', { row: 1, col: 2 }]);
  expect(kindAt(right!.x + right!.wide + 3, other.y)).toBeNull();
  const start = under(rowsOf(layout, drawing), box.x + 1, box.y + 1)!;
  const last = { ...start, id: start.id + 1 };
  const over = step(wallArtist, layout, drawing, last, 'ArrowRight');
  expect([over!.arm, cellOf(over!)]).toEqual(['after', { row: 2, col: 0 }]);
});

test('what is drawn says what is counted', () => {
  const { pen, log } = recordingPen();
  const index = runOf({ before, after: bitmap });
  const size = { width: 900, height: 600, dpr: 1 };
  const drawing = { index, frame: after(40), size, lesson: wallLesson, theme: lightTheme };
  drawWalls(pen, layoutOf(drawing, 0, 13), drawing, null, namedTiles);
  const said = log.flatMap((stroke) => stroke.text ?? []);
  expect(said).toContain('9 visits');
  expect(said).toContain('14 visits');
  expect(said).toContain('8 bits set, nobody reads them');
  expect(said).toContain('2 bits set');
});

test('sentences, counts and answers come from the events', () => {
  const index = runOf({ before: [...before, ...before.slice(6)], after: [...bitmap, ...third] });
  const say = (name: string, events: number) => sentences[name]!(index, after(events), wallLesson);
  expect(say('call', before.length)).toContain(
    'Call 1 with the list walk made 9 visits, 3 memcgs times 3 shrinkers',
  );
  expect(say('first', bitmap.length)).toContain('Of the 14 visits in call 1, 6 were second checks');
  expect(say('bits', 6)).toContain(
    'With the list walk, 8 bits are set: 2 because of objects, and 6 because the maps grew',
  );
  expect(counts(index, after(before.length), wallLesson).rows.get('before')?.[0]).toBe('9');
  const prediction = { bounds: [1, 8], choices: ['a', 'b', 'c'], arms: ['after', 'before'] };
  const first = answers['visits_first']!(index, prediction as never, wallLesson);
  expect(first?.choice).toBe(2);
  expect(first?.words).toContain('14 visits with the bitmap and 9 with the list walk');
  expect(answers['visits_third']!(index, prediction as never, wallLesson)).toBeNull();
  expect(table(index, after(before.length), wallLesson).length).toBeLessThanOrEqual(50);
  expect(table(index, after(before.length), wallLesson).at(-1)?.what).toMatch(/nothing freed/);
});

test('maps that did not grow had room, unless no event tells the growth of maps', () => {
  const say = (points: readonly HandPoint[]) =>
    sentences['first']!(runOf({ after: points }), after(points.length), wallLesson);
  const small: HandPoint[] = [...setUp, ['call'], ...root, visit(11, 2, 0), ['call_end']];
  expect(say(small)).toContain('because this guest has run the workload before');
  expect(say(unreported(small))).not.toContain('because this guest has run the workload before');
  expect(say(unreported(bitmap))).toContain('Of the 14 visits in call 1, 6 were second checks');
});

test('the chart takes one point for each run and arm, and draws guides through the largest', () => {
  const calls = Array.from({ length: 5 }, () => before.slice(6)).flat();
  const index = runOf({ before: [...before.slice(0, 6), ...calls] }, { n: 2 });
  const [point] = costOf(index, wallLesson);
  expect(point).toMatchObject({ arm: 'before', n: 2, visits: 9, passes: 1, source: 'recorded' });
  const other = { ...wallLesson, workloads: { another: Object.values(wallLesson.workloads)[0]! } };
  expect(costOf(index, other)).toEqual([]);
  const once = merged([], [point!]);
  expect(merged(once, [point!])).toBe(once);
  expect(parseCosts(JSON.stringify([...once, { n: 'no' }, null]))).toEqual(once);
  expect(parseCosts('{')).toEqual([]);
  expect(guide({ n: 10, value: 100 }, 2, 5, 20)).toEqual([
    [5, 25],
    [20, 400],
  ]);
});

test('a bit that is set once more counts, and the sentence says so; 56 bits may be set 111 times', () => {
  const again: HandPoint[] = [...setUp, ['set', 12, 2], ['call'], ...root, ['call_end']];
  const index = runOf({ before: again, after: again });
  const { n } = wallOf(index.lanes[0]!, wallLesson).at(1e9);
  expect([n[Count.sets], n[Count.objects]]).toEqual([3, 2]);
  const said = sentences['price']!(index, after(again.length), wallLesson);
  expect(said.match(/set 3 times so far, including bits that were already set/g)).toHaveLength(2);
});
