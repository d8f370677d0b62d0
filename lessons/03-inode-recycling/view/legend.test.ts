// SPDX-License-Identifier: GPL-2.0-or-later
/** Readers in the pictures and legends of the recording. */

import { lightTheme } from '@page/base/theme.ts';
import { drawnStep } from '@test/figures/drawn-step.ts';
import { recordedLessons } from '@test/fixtures/recordings.ts';
import { expect, test } from 'vitest';

test('readers of before are drawn where the recording has them, once for each grace period', () => {
  const one = recordedLessons('03-inode-recycling')[0]!;
  const of = (id: string) => one.lesson.scenes.find((scene) => scene.id === id)!;
  const [shown, removal] = [of('wait'), of('dam')].map((scene) =>
    drawnStep(one, scene, lightTheme),
  );
  expect(shown!.legend.map(({ name }) => name)).toContain('may_read');
  expect(shown!.fills.has(lightTheme.mechanism)).toBe(true);
  expect(removal!.legend.map(({ name }) => name)).not.toContain('may_read');
});
