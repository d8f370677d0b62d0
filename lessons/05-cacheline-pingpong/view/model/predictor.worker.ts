// SPDX-License-Identifier: GPL-2.0-or-later
/** Computes the newest request in steps. Between two steps, the worker checks for a newer request. */

import { type PredictorResult, type PredictorTask, takeSteps } from './prediction.ts';

const scope = self as unknown as {
  onmessage: ((event: MessageEvent<PredictorTask>) => void) | null;
  postMessage(value: PredictorResult): void;
};

let wanted = 0;

/** A message from the worker to itself takes one turn of the event loop. A timer would add a delay. */
const { port1, port2 } = new MessageChannel();
const waiting: (() => void)[] = [];
port1.onmessage = () => waiting.shift()?.();
const turn = () =>
  new Promise<void>((done) => {
    waiting.push(done);
    port2.postMessage(null);
  });

scope.onmessage = ({ data }) => {
  wanted = data.id;
  void takeSteps(
    data,
    () => wanted,
    (result) => scope.postMessage(result),
    turn,
  );
};
