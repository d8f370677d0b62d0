// SPDX-License-Identifier: GPL-2.0-or-later
/** The model's curves for the lanes on show, worked out off the main thread; anew when a knob of the model is turned. */

import { useEffect, useRef, useState } from 'react';
import type { RunIndex } from '../../derive/types.ts';
import type { Lesson } from '../../protocol/lesson.ts';
import type { Prediction } from './model/prediction.ts';
import { createPredictor, type Predictor } from './model/predictor.ts';
import { mailRates } from './model/stated.ts';
import { type ModelSettings, settingsKey, settingsOf } from './settings.ts';
import { countedOf } from './streams.ts';

export interface Predicted {
  readonly settings: ModelSettings;
  /** As far as it has come; null before its first step. */
  readonly prediction: Prediction | null;
  readonly complaint: string;
}

export function usePrediction(runIndex: RunIndex, lesson: Lesson): Predicted {
  // The picture's CPUs and schedule do not matter to the curve.
  const settings = { ...settingsOf(runIndex.params, lesson), schedule: 'timed' as const, cpus: 2 };
  const lanes = runIndex.lanes.map((lane) => ({ arm: lane.arm, counted: countedOf(lane) }));
  const ready = runIndex.lanes.length > 0 && runIndex.lanes.every((lane) => lane.ended);
  const known = lanes.every(({ counted }) => counted.ops > 0 && counted.placed);
  const key = [
    settingsKey(settings),
    ready && known,
    ...lanes.map(({ arm, counted }) => `${arm} ${counted.shown}`),
    runIndex.runId,
  ].join(' ');
  const [prediction, setPrediction] = useState<Prediction | null>(null);
  const [complaint, setComplaint] = useState('');
  const predictor = useRef<Predictor | null>(null);
  const latest = useRef({ settings, lanes });
  latest.current = { settings, lanes };
  useEffect(() => {
    predictor.current = createPredictor((shown) => {
      if ('complaint' in shown) setComplaint(shown.complaint);
      else setPrediction(shown);
    });
    return () => predictor.current?.close();
  }, []);
  const ask = ready && known;
  useEffect(() => {
    if (!ask || key === '') return;
    setPrediction(null);
    setComplaint('');
    const arms = latest.current.lanes.map(({ arm, counted: { streams } }) => ({ arm, streams }));
    const { settings } = latest.current;
    const { owning } = settings;
    const request = { arms, settings, compareAt: mailRates.cpus, owning };
    predictor.current?.ask(request);
    return () => predictor.current?.drop();
  }, [key, ask]);
  return { settings, prediction, complaint };
}
