// SPDX-License-Identifier: GPL-2.0-or-later
/** Delays the loading of code, fonts and runs that the first picture of lanes does not need. */

/** Name of the performance mark that is set when the first picture of a run was drawn; its detail is the run's id. */
export const pictureMark = 'duet:first-picture';
/** Maximum time to wait for a picture, ms. Some pages have none, for example the notes of a speaker. */
const patienceMs = 10_000;
/**
 * Maximum time to wait for a picture after its run has come, ms. A step may ask a question before it shows the picture.
 */
const drawingMs = 1000;
/** Maximum time to wait until the browser is idle, ms. */
const idleMs = 2000;

let drawnRun: string | null = null;
/** Whether nothing waits for the picture any more. */
let isOver = false;
const waiting = new Set<() => void>();

/** Resolves when the first picture has been drawn, or when it is clear that the picture will not be drawn soon. */
export const firstPicture = new Promise<void>((resolve) => {
  waiting.add(resolve);
  setTimeout(stopWaiting, patienceMs);
});

function stopWaiting(): void {
  isOver = true;
  for (const run of waiting) run();
  waiting.clear();
}

/** Report that lanes with events of a run were drawn. Only the first call for each run has an effect. */
export function pictureDrawn(run: string): void {
  if (run === drawnRun) return;
  drawnRun = run;
  performance.mark(pictureMark, { detail: run });
  stopWaiting();
}

/** Report that the page shows no lanes, so nothing needs to wait for them. */
export function noPicture(): void {
  stopWaiting();
}

/** Report that all data of the first picture have arrived. */
export function pictureExpected(): void {
  if (!isOver) setTimeout(stopWaiting, drawingMs);
}

/** Run a task when the browser is idle after the first picture. */
export function afterPicture(task: () => unknown): void {
  const whenIdle = () => {
    if (typeof requestIdleCallback === 'function') requestIdleCallback(task, { timeout: idleMs });
    else setTimeout(task);
  };
  if (isOver) whenIdle();
  else waiting.add(whenIdle);
}
