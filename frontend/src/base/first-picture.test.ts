// SPDX-License-Identifier: GPL-2.0-or-later
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

beforeEach(() => {
  vi.useFakeTimers();
  vi.resetModules();
});
afterEach(() => vi.useRealTimers());

test('a task runs after the first picture, once; a later task runs soon', async () => {
  const { afterPicture, pictureDrawn } = await import('./first-picture.ts');
  const early = vi.fn();
  afterPicture(early);
  await vi.advanceTimersByTimeAsync(9000);
  expect(early).not.toHaveBeenCalled();
  pictureDrawn('a');
  pictureDrawn('a');
  await vi.advanceTimersByTimeAsync(20_000);
  expect(early).toHaveBeenCalledTimes(1);
  const late = vi.fn();
  afterPicture(late);
  await vi.advanceTimersByTimeAsync(1);
  expect(late).toHaveBeenCalledTimes(1);
});

test('each run has a mark of its first picture', async () => {
  const { pictureDrawn, pictureMark } = await import('./first-picture.ts');
  const mark = vi.spyOn(performance, 'mark');
  for (const run of ['a', 'a', 'b', 'b']) pictureDrawn(run);
  expect(mark.mock.calls).toEqual(['a', 'b'].map((detail) => [pictureMark, { detail }]));
});

test('a page without lanes waits for no picture', async () => {
  const { afterPicture, noPicture } = await import('./first-picture.ts');
  const task = vi.fn();
  afterPicture(task);
  noPicture();
  await vi.advanceTimersByTimeAsync(1);
  expect(task).toHaveBeenCalledTimes(1);
});

test('a page whose run has come waits one second for its picture', async () => {
  const { afterPicture, firstPicture, pictureExpected } = await import('./first-picture.ts');
  const task = vi.fn();
  afterPicture(task);
  pictureExpected();
  await vi.advanceTimersByTimeAsync(900);
  expect(task).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(200);
  expect(task).toHaveBeenCalledTimes(1);
  await firstPicture;
});

test('a page without a picture runs the task after ten seconds', async () => {
  const { afterPicture } = await import('./first-picture.ts');
  const task = vi.fn();
  afterPicture(task);
  await vi.advanceTimersByTimeAsync(10_001);
  expect(task).toHaveBeenCalledTimes(1);
});
