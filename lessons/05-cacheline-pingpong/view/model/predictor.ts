// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Predictions in a worker. A new request drops the previous request. Without a worker, in tests or if the page was
 * opened as a file, the steps run on the main thread. The page can do other work between two steps.
 */

import {
  type Prediction,
  type PredictionRequest,
  type PredictorResult,
  type PredictorTask,
  takeSteps,
} from './prediction.ts';

export interface Predictor {
  /** Start a prediction. `receive` gets partial results until the prediction is done, is dropped, or fails. */
  ask(request: PredictionRequest): void;
  /** Drop the current request. */
  drop(): void;
  close(): void;
}

type Receive = (result: Prediction | { readonly complaint: string }) => void;

export const nextTurn = (): Promise<void> => new Promise((done) => setTimeout(done));

export function createPredictor(receive: Receive): Predictor {
  let newest: PredictorTask = { id: 0, request: null };
  const onResult = (result: PredictorResult) => {
    if (result.id !== newest.id) return;
    receive(result.prediction ?? { complaint: result.complaint });
  };
  const here = (task: PredictorTask) => void takeSteps(task, () => newest.id, onResult, nextTurn);
  let worker = startWorker();
  if (worker !== null) {
    worker.onmessage = (event: MessageEvent<PredictorResult>) => onResult(event.data);
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
    return null; // A page that was opened as a file cannot start a worker.
  }
}
