// SPDX-License-Identifier: GPL-2.0-or-later
/** Pointing looks only at what is near; the answer is that of a look at every item of the row. */

import { lightTheme } from '@page/base/theme.ts';
import { under } from '@page/views/items.ts';
import { expect, test } from 'vitest';
import { inodeFrame, inodeIndex, inodeLesson } from './fixtures/inodes.ts';
import { layoutOf } from './layout.ts';
import { rowsOf } from './point.ts';

/** Inodes that go round at lengths of their own, some early, some queued for long; batches and waits that overlap. */
function runText(): string {
  const lines: string[] = [];
  for (let i = 0; i < 5; i++) {
    const turn = 41 + i * 13;
    lines.push(`${1 + i} fresh ${7 + i}`);
    for (let k = 0; k < 20; k++) {
      const at = 6 + i * 3 + k * turn;
      const cpu = k % 2;
      lines.push(`${at} queued@${cpu} ${7 + i} 1`);
      if (k % 3 > 0) lines.push(`${at + 4} inactivated@${cpu} ${7 + i}`);
      if (k % 4 === 0) lines.push(`${at + 2} batch@${cpu} 3`);
      if (k % 4 === 2) lines.push(`${at + 9} batch_done@${cpu} 3`);
      if (k % 5 === 0) lines.push(`${at + 3} gp_wait@${cpu} ${7 + i} 0`);
      if (k % 5 === 1) lines.push(`${at + 5} gp_wait_done@${cpu} ${7 + i} 0 1`);
      lines.push(`${at + Math.floor(turn / 2)} reuse ${7 + i} ${k % 2}`);
    }
  }
  const time = (line: string) => Number(line.split(' ')[0]);
  const graces = Array.from({ length: 90 }, (_, k) => `gp ${k * 14 + 3} ${k * 14 + 13}`);
  return ['stock', ...lines.sort((a, b) => time(a) - time(b)), ...graces].join('\n');
}

test('what is under a point is what a look at every item would find', () => {
  const index = inodeIndex(runText(), 1400);
  const kinds = new Set<string>();
  for (const [from, to] of [
    [0, 1400],
    [200, 500],
    [333, 345],
  ] as const) {
    const drawing = { index, lesson: inodeLesson, theme: lightTheme, dpr: 1 };
    const size = { width: 1136, height: 1400, dpr: 1 };
    const layout = layoutOf({ ...drawing, size, frame: inodeFrame(from, to, to) }, 34, 13);
    const near = rowsOf(index, layout);
    const whole = near.map((row) => {
      const all = row.items(layout.left, layout.right);
      return { ...row, items: () => all };
    });
    const [box] = layout.lanes;
    for (const band of box!.bands.filter(({ name }) => name !== 'inodes' && name !== 'flow')) {
      for (let x = layout.left; x <= layout.right; x += 1.7)
        for (let y = band.top + 1; y < band.top + band.height; y += 7) {
          const found = under(whole, x, y);
          const mark = under(near, x, y);
          if (JSON.stringify(mark) !== JSON.stringify(found))
            expect(mark, `${band.name} at ${x}, ${y}`).toEqual(found);
          if (found !== null) kinds.add(index.kinds[found.kind]!.name);
        }
    }
  }
  const named = ['alive', 'batch', 'early', 'free', 'gp', 'queued', 'reuse', 'shadow'];
  expect([...kinds].sort()).toEqual([...named, 'worker_wait']);
});
