// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Predictions off the main thread. A new request drops the one before. Where there is no worker (tests, a page opened
 * as a file) the steps are taken on this thread, one at a time, with the page's own work between them.
 */

import {
  type Asked,
  type Prediction,
  type PredictionRequest,
  type Told,
  takeSteps,
} from './prediction.ts';

export interface Predictor {
  /** Starts a prediction; `receive` hears how far it has come, until it is done, dropped or has failed. */
  ask(request: PredictionRequest): void;
  /** Drops what is under way. */
  drop(): void;
  close(): void;
}

type Receive = (told: Prediction | { readonly complaint: string }) => void;

export const nextTurn = (): Promise<void> => new Promise((done) => setTimeout(done));

export function createPredictor(receive: Receive): Predictor {
  let newest: Asked = { id: 0, request: null };
  const hear = (told: Told) => {
    if (told.id !== newest.id) return;
    receive(told.prediction ?? { complaint: told.complaint });
  };
  const here = (asked: Asked) => void takeSteps(asked, () => newest.id, hear, nextTurn);
  let worker = startWorker();
  if (worker !== null) {
    worker.onmessage = (event: MessageEvent<Told>) => hear(event.data);
    worker.onerror = (event) => {
      event.preventDefault();
      worker?.terminate();
      worker = null;
      here(newest);
    };
  }
  const post = (request: PredictionRequest | null) => {
    newest = { id: newest.id + 1, request };
    if (worker !== null) worker.postMessage(newest);
    else here(newest);
  };
  return {
    ask: post,
    drop: () => post(null),
    close: () => {
      newest = { id: newest.id + 1, request: null };
      worker?.terminate();
    },
  };
}

function startWorker(): Worker | null {
  if (typeof Worker === 'undefined') return null;
  try {
    return new Worker(new URL('./predictor.worker.ts', import.meta.url), { type: 'module' });
  } catch {
    return null; // A page opened as a file may not start one.
  }
}
