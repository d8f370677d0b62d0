// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Tests the first divergence of lanes and its description, and the reasons that lanes do not diverge or cannot be
 * compared.
 */

import { expect, test } from 'vitest';
import { lineLesson, lineRun } from '../../test/fixtures/cachelines.ts';
import { cell, frameOver, indexOf } from '../../test/fixtures/drawing.ts';
import { extentLesson, fileRun, frameAfter } from '../../test/fixtures/extents.ts';
import { testLesson } from '../../test/fixtures/lesson.ts';
import { noOffsets, offsetsOf } from './align.ts';
import { firstDivergence, jumpWords, noDivergence, noLongWait, noMarker } from './jumps.ts';
import { stepNs } from './retime.ts';

/** Each `!` ends an operation. The third operation on SRCU waits. */
const parted = `
  rwsem
  storm-0  RR!RR!RR!RR!RR!
  srcu
  storm-0  RR!RR!RSSSSS!RSSSSS!
`;

test('lanes part at the first operation that took twice as long on the slower lane', () => {
  const index = indexOf(parted);
  expect(noDivergence(index, testLesson)).toBe('');
  // The moment at which the operation has ended on both lanes.
  expect(firstDivergence(index, noOffsets)! / cell).toBe(13);
  const words = jumpWords('divergence', 0, index, frameOver(0, 20, 13), testLesson);
  expect(words).toContain(
    'The kernels first differ at umount 3: 300 µs on rwsem and 700 µs on SRCU',
  );
});

test('an offset moves the moment, not the operation', () => {
  const index = indexOf(parted);
  const offset = offsetsOf(index, 'operation', 0, 4);
  expect(offset.get('rwsem')! / cell).toBe(8);
  expect(firstDivergence(index, offset)! / cell).toBe(17);
});

test('a single slow operation of the faster lane is no divergence', () => {
  const index = indexOf(`
    rwsem
    storm-0  RRRRRRRR!R!R!R!R!R!R!R!
    srcu
    storm-0  RRR!RRR!RRR!RRR!RRR!RRR!
  `);
  const words = noDivergence(index, testLesson);
  expect(words || jumpWords('divergence', 0, index, frameOver(0, 20, 0), testLesson)).not.toContain(
    'umount 1:',
  );
});

test('lanes that take as long do not part, and one lane parts from nobody', () => {
  const alike = indexOf(`
    rwsem
    storm-0  RR!RR!RR!
    srcu
    storm-0  RR!RR!RRR!
  `);
  expect(noDivergence(alike, testLesson)).toMatch(
    /^The umounts take about equally long on all lanes: 300 µs on rwsem and 333 µs on SRCU on average\.$/,
  );
  expect(firstDivergence(alike, noOffsets)).toBeNull();
  const alone = indexOf('rwsem\nstorm-0  RR!RR!');
  expect(noDivergence(alone, testLesson)).toBe('There is only one lane; a divergence needs two.');
  expect(noMarker(alone, testLesson)).toContain('one lane');
  expect(noLongWait(alone)).toContain('no task waits');
  const before = indexOf('rwsem\nstorm-0  RR\nsrcu\nstorm-0  RR');
  expect(noMarker(before, testLesson)).toBe('No lane has ended a umount yet.');
});

test('where the axis counts entries, the first that is another one is named, with what differs', () => {
  const index = fileRun({ delayed: 4, written: 4, nr: 4, scans: 1 });
  const [first] = index.lanes;
  expect(firstDivergence(index, noOffsets)).toBe(stepNs);
  const fields = ['ino', 'lblk', 'len', 'status', 'fate'];
  const lesson = { ...extentLesson, points: extentLesson.points.map((p) => ({ ...p, fields })) };
  const words = jumpWords('divergence', 0, index, frameAfter(1), lesson);
  expect(words).toMatch(
    /^The kernels first differ at entry 1: lblk 0, status \d+, fate 0 on 2013 scan; /,
  );
  expect(words).not.toContain('ino');
  const own = jumpWords('divergence', 0, index, frameAfter(1), lesson, (lane) => `as ${lane.arm}`);
  expect(own).toContain('entry 1: as scan-2013 on 2013 scan; ');
  for (const { arm } of index.lanes)
    expect(words).toContain(extentLesson.arms.find((a) => a.name === arm)!.title);
  const same = { ...index, lanes: [first!, { ...first!, arm: 'other' }] };
  expect(noDivergence(same, extentLesson)).toContain('the same entries');
});

test('accesses in the order of the host are not compared by their number', () => {
  const index = lineRun({ letters: 24, stats: 3 });
  const lesson = {
    ...lineLesson,
    points: lineLesson.points.map((p) => ({ ...p, lens: 'microscope' as const })),
  };
  expect(noDivergence({ ...index, hostOrder: true }, lesson)).toContain('the host ran the vCPUs');
});

test('a long wait says who waits, for how long, and what is long; a later one than the last begins anew', () => {
  const index = indexOf(`
    rwsem
    storm-0  RRLLRRR!
    srcu
    storm-0  RRRRSSSSSR!
  `);
  const frame = frameOver(0, 20, 4);
  const words = jumpWords('long_wait', 0, index, frame, testLesson);
  expect(words).toBe(
    'Here, storm-0 on SRCU waits for an SRCU grace period, for 500 µs. "Long" means at least half of the longest wait (250 µs).',
  );
  expect(jumpWords('long_wait', 5 * cell, index, frame, testLesson)).toContain(
    'this is the first wait again.',
  );
});

test('aligning by marker says where it is and which lanes were moved', () => {
  const index = indexOf(parted);
  const offset = offsetsOf(index, 'operation', 0, 3);
  const frame = { ...frameOver(0, 20, 0), offset, aligned: { by: 'operation', n: 3 } as const };
  expect(jumpWords('align', 0, index, frame, testLesson)).toBe(
    'Umount 3 ends at the same moment on every lane, at 1.300 ms; moved to align: rwsem by 400 µs.',
  );
  const time = { ...frame, aligned: { by: 'time', n: 1 } as const, offset: noOffsets };
  expect(jumpWords('align', 0, index, time, testLesson)).toContain('its own time');
});
