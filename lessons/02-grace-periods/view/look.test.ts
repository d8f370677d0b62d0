// SPDX-License-Identifier: GPL-2.0-or-later
/** How a walk of a reader ends is read off who is in line for the lock. */

import { lightTheme } from '@page/base/theme.ts';
import { markOf, spansIn } from '@page/derive/query.ts';
import { indexRun } from '@page/derive/run-index.ts';
import type { RunIndex } from '@page/derive/types.ts';
import { namedTiles } from '@page/views/paints.ts';
import { pictureOf } from '@page/views/timeline/artist.ts';
import { drawPicture } from '@page/views/timeline/draw.ts';
import { scoreOf } from '@page/views/timeline/score.ts';
import { cell, frameOver, indexOf, storeOf } from '@test/fixtures/drawing.ts';
import { testLesson } from '@test/fixtures/lesson.ts';
import { pointBatch } from '@test/fixtures/messages.ts';
import { recordingPen } from '@test/fixtures/pen.ts';
import { describe, expect, test } from 'vitest';
import {
  fateWords,
  hogLook,
  scoreAt,
  scoreWords,
  ticksOf,
  walksOf,
  work,
  workAt,
  workWords,
} from './look.ts';

describe('walks', () => {
  // Whole; cut short by storm-0 and given up behind it, woken but not run yet; given up behind storm-1; whole again.
  const lane = (arm: string) =>
    indexOf(`
  ${arm}
  storm-0       RRRRRRLLLLLrRRRRRRRRRRRRRR
  storm-1       RRRRRRRRRRRRRRRLLLLRRRRRRR
  storm-reclaim .OO.OOOOOOO.O...OO....OO..
`);
  const fates = (arm: string) => {
    const index = lane(arm);
    return walksOf(index, index.lanes[0]!).map(({ fate }) => fate);
  };

  test('a walk gives up behind somebody in line, and is cut short by who comes', () => {
    expect(fates('rwsem')).toEqual(['whole', 'cut_short', 'gave_up', 'gave_up', 'whole']);
    const woken = indexOf(
      'rwsem\nstorm-0 RLLLLrrrRRRR\nstorm-1 RRRRRRRRRRRR\nstorm-reclaim ......O.....',
    );
    expect(walksOf(woken, woken.lanes[0]!).map(({ fate }) => fate)).toEqual(['gave_up']);
  });

  test('readers that take no lock always go to the end', () => {
    expect(new Set(fates('srcu'))).toEqual(new Set(['whole']));
    expect(new Set(fates('srcu-expedited'))).toEqual(new Set(['whole']));
  });

  test('the score is that of the moment', () => {
    const index = lane('rwsem');
    const at = (t: number) => scoreWords('rwsem', scoreAt(index, index.lanes[0]!, t * cell));
    expect(at(1)).toBe('');
    expect(at(3)).toBe('1 walk so far: 1 to the end, 0 cut short, 0 gave up');
    expect(at(26)).toBe('5 walks so far: 2 to the end, 1 cut short, 2 gave up');
  });

  function draw(show: string[], moment: number) {
    const index = lane('rwsem');
    const score = scoreOf(testLesson, show, null, 13, hogLook);
    const { pen, log } = recordingPen();
    const size = { width: 140 + 1040 + 14, height: 600, dpr: 1 };
    const picture = pictureOf(index, frameOver(0, 26, moment), size, score);
    drawPicture(pen, picture, { theme: lightTheme, tiles: namedTiles, stamp: null });
    const signs = log.filter(
      (s) => s.what === 'fill' && s.fill === lightTheme.hazard && s.at.length === 3,
    );
    const words = log.filter((s) => s.what === 'fillText').map((s) => s.text);
    return { index, signs, words };
  }

  test('the sign of a walk that gave up stands at its begin, and the words say how many', () => {
    const { signs, words } = draw(['walks'], 26);
    expect(signs.map(({ at }) => at[0]! - at[2]! - 140)).toEqual([480, 640]);
    expect(words).toContain('5 walks so far: 2 to the end, 1 cut short, 2 gave up');
    const early = draw(['walks'], 10);
    expect(early.signs[0]!.alpha).toBeLessThan(0.5);
    expect(early.words).toContain('1 walk so far: 1 to the end, 0 cut short, 0 gave up');
    expect(draw(['tracks'], 26).signs).toEqual([]);
  });

  test('a walk that is pointed at says why it ended', () => {
    const index = lane('rwsem');
    const said = [...spansIn(index.lanes[0]!, 'function', 0, 26 * cell)].map((span) =>
      fateWords(index, markOf('rwsem', span)),
    );
    expect(said[1]).toContain('Cut short');
    expect(said[2]).toContain('Gave up');
    expect(said[0]).toBe('');
  });

  test('what walks have freed is what their probe returned, and goes into the score', () => {
    const store = storeOf('rwsem\nstorm-0 RRLLLLRRRR\nstorm-reclaim OO.OO.OO..');
    const head = { runId: 'r', arm: 'rwsem', seq: 0, watermark: 10 * cell };
    // Of the first walk a little behind its end, of the second before; of the third there is none.
    const rows = [
      { t: 2 * cell + 900, kind: 0, values: [1024] },
      { t: 5 * cell - 900, kind: 0, values: [0] },
    ];
    store.dispatch(pointBatch(head, rows));
    const points = [
      { name: 'freed', probe: 'walk_freed', lens: null, title: 'freed', fields: ['freed'] },
    ];
    const index = indexRun(store.shown()!, { ...testLesson, points });
    const walks = walksOf(index, index.lanes[0]!);
    expect(walks.map(({ freed }) => freed)).toEqual([1024, 0, null]);
    const score = scoreAt(index, index.lanes[0]!, 10 * cell);
    expect(scoreWords('rwsem', score)).toMatch(/^3 walks so far: .*; 1,024 objects freed$/);
    const [first] = [...spansIn(index.lanes[0]!, 'function', 0, 10 * cell)];
    expect(fateWords(index, markOf('rwsem', first!))).toContain('It freed 1,024 objects.');
  });
});

// Ticks are where recorded delays ended, and a tick that ended one looks different from the others; who is idle has none.
describe('ticks', () => {
  // A tick is 40 cells. Each round two ticks end a delay and one does not; a quick round in the middle ends at none.
  const round = {
    track: `${'A'.repeat(35)}CC${'.'.repeat(83)}`,
    calls: `${'.'.repeat(37)}${'D'.repeat(38)}W${'.'.repeat(44)}`,
  };
  const rounds = 8;
  const drawn = (arm: string, shift = '', hog = 'R'.repeat(120 * rounds)) => `
  ${arm}
  storm-0  ${hog}
  grace-period ${shift}${round.track.repeat(rounds)}
  callbacks ${shift}${round.calls.repeat(rounds)}
`;

  test('the grid lies where the long delays ended', () => {
    const index = indexOf(drawn('srcu', '.'.repeat(7)));
    expect(ticksOf(index, index.lanes[0]!)).toEqual({ at: 2 * cell, every: 40 * cell });
    // What is quick waits for no tick.
    const quick = indexOf(`srcu\nstorm-0 RRRRRRRRRR\ngrace-period ${'AAAC...'.repeat(30)}`);
    expect(ticksOf(quick, quick.lanes[0]!)).toBeNull();
  });

  test('a kernel of another HZ has its own distance of ticks', () => {
    const index = indexOf(drawn('srcu-hz500'));
    expect(ticksOf(index, index.lanes[0]!)?.every).toBe(20 * cell);
  });

  /** Marks in the row of ticks: where, from the left edge, and whether they are tall. */
  function marks(index: RunIndex) {
    const score = scoreOf(testLesson, ['tracks', 'ticks'], null, 13, hogLook);
    const { pen, log } = recordingPen();
    const size = { width: 140 + 1200 + 14, height: 600, dpr: 1 };
    const picture = pictureOf(index, frameOver(0, 120, 120), size, score);
    drawPicture(pen, picture, { theme: lightTheme, tiles: namedTiles, stamp: null });
    const line = picture.layout.lanes[0]!.lines.find(({ what }) => what === 'extra')!;
    const bars = log.filter(
      ({ what, fill, at }) =>
        what === 'fillRect' &&
        fill === lightTheme.mechanism &&
        at[1]! + at[3]! === line.top + line.height,
    );
    return bars.map(({ at }) => [at[0]! + at[2]! / 2 - 140, at[3]! === line.height]);
  }

  test('ticks that ended a delay are tall, others short, where a hog ran', () => {
    const ended = [
      [350, true],
      [750, true],
    ];
    expect(marks(indexOf(drawn('srcu')))).toEqual([...ended, [1150, false]]);
    // Nobody ran at the third: a CPU that is idle may have no tick.
    const asleep = `${'R'.repeat(100)}${'S'.repeat(20)}`.repeat(rounds);
    expect(marks(indexOf(drawn('srcu', '', asleep)))).toEqual(ended);
  });

  test('without ticks there is no line for them', () => {
    const index = indexOf('rwsem\nstorm-0 RRRRRRRRRR');
    const score = scoreOf(testLesson, ['tracks', 'ticks'], null, 13, hogLook);
    const size = { width: 1000, height: 400, dpr: 1 };
    const { lanes } = pictureOf(index, frameOver(0, 10, 10), size, score).layout;
    expect(lanes[0]!.lines.map(({ what }) => what)).toEqual(['row']);
  });
});

// The worker's checks and wakes, up to the moment.
describe('work', () => {
  const index = indexOf(`
  srcu
  storm-0  SSSSSSSSSSSR!
  grace-period .AAACXXCC....
  callbacks .........DW..
`);
  const lane = index.lanes[0]!;
  const say = (t: number, ops: number) =>
    workWords('srcu', workAt(index, lane, t * cell), ops, 'umount');

  test('it has checks, wakes and their time; waiting between looks is no work', () => {
    expect(say(4, 0)).toBe('0 checks and 0 wake-ups so far|, 0 of work');
    expect(say(5, 0)).toBe('1 check and 0 wake-ups so far|, 100 µs of work');
    expect(say(13, 2)).toBe('2 checks and 1 wake-up so far|: 1.5 for each umount, 400 µs of work');
  });

  test('a lane whose kernel has no such worker has no line', () => {
    const other = indexOf('rwsem\nstorm-0 RRRR');
    expect(work.on(other, other.lanes[0]!)).toBe(false);
    expect(work.on(index, lane)).toBe(true);
  });

  test('what was found in an earlier version of the index does not stay', () => {
    // The lane's table may be whole before the index knows all of it: here the earlier one knows no kinds.
    const fresh = indexOf('srcu\nstorm-0 SSSSR!\ngrace-period .AACX');
    const one = fresh.lanes[0]!;
    const earlier = { ...fresh, kinds: [], version: fresh.version - 1 };
    expect(work.on(earlier, one)).toBe(false);
    expect(work.on(fresh, one)).toBe(true);
  });
});
