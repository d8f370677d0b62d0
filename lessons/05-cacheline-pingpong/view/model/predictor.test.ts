// SPDX-License-Identifier: GPL-2.0-or-later
import { describe, expect, test, vi } from 'vitest';
import { offsetOf, statAccesses, statOf } from '../fixtures/stat-stream.ts';
import {
  casesOf,
  mostOff,
  numbers,
  type Prediction,
  pointAt,
  predictionSteps,
  ratioAt,
  scaled,
  sensitivity,
} from './prediction.ts';
import { createPredictor } from './predictor.ts';
import { leftOut, statedNumbers, statedSettings, workOf } from './stated.ts';
import { recordedStreams } from './streams.ts';

const pair = { before: [statOf('stock')], after: [statOf('moved')] };
const runs = { seeds: [1, 2, 3], ops: 300 };

describe('stated numbers', () => {
  test('each has a value, says where it comes from, and says so if it is assumed', () => {
    for (const [name, { value, says, source, url }] of Object.entries(statedNumbers)) {
      expect(value, name).toBeGreaterThan(0);
      expect(says.length, name).toBeGreaterThan(40);
      expect(url.startsWith('https://') || source === 'assumption', name).toBe(true);
    }
    expect(leftOut.length).toBeGreaterThan(4);
  });

  test('private work of a stat adds up to what was counted', () => {
    const work = workOf(statAccesses.map(([name]) => name));
    expect(work.reduce((a, b) => a + b, 0)).toBe(2311);
    expect(work.slice(0, 3)).toEqual([859 + 2311 - 1422, 1, 2]);
    expect(workOf(['nobody knows', 'dput', 'nor this'])).toEqual([2311 - 1404, 1404, 0]);
  });
});

test('recorded accesses become streams, split at lines, with work where it was counted', () => {
  const names = [...new Set(statAccesses.map(([name]) => name))];
  const once = statAccesses.map(([name, at, kind]) => [3, offsetOf('stock', at), 4, kind, 1, names.indexOf(name)]); // biome-ignore format: columns
  const rows = [...once, [0, 62, 4, 0, 0, 0], ...once.map((r) => [0, ...r.slice(1)])];
  const column = (i: number) => rows.map((r) => r[i]!);
  const recorded = { length: rows.length, cpu: column(0), at: column(1), size: column(2), kind: column(3), op: column(4), func: column(5) }; // biome-ignore format: columns
  const made = recordedStreams(recorded, { functions: names });
  expect(made.cpus).toEqual([0, 3]);
  expect(made.lines).toBe(2);
  expect([...made.executed.cpu.subarray(0, 2)]).toEqual([1, 1]);
  expect([...made.source[0]!.subarray(0, 2)]).toEqual([21, 21]);
  expect([...made.streams[0]!.line.subarray(0, 2)]).toEqual([0, 1]);
  expect(made.streams[0]!.work[0]).toBe(0);
  expect(made.streams[1]).toEqual(statOf('stock'));
  const even = recordedStreams(recorded, { upTo: 21 }).streams[0]!.work;
  expect(even.every((w) => Math.abs(w - 1 / 21) < 1e-12)).toBe(true);
});

describe('prediction', () => {
  test('one CPU does what its own work and hits allow, and asks nobody', () => {
    const { opsPerS, transfersPerOp } = pointAt(pair.before, statedSettings, 1, runs);
    const alone = 1e9 / (statedSettings.latencies.ownNs + 21 * statedSettings.latencies.hitNs);
    expect(opsPerS.median / alone).toBeGreaterThan(0.98);
    expect(opsPerS.median / alone).toBeLessThan(1.02);
    expect(transfersPerOp.high).toBe(0);
  });

  test('loads that own: half as many again at 20 CPUs, never less whatever is halved or doubled; loads that read: no gain', () => {
    const { owning, reading } = sensitivity(pair, statedSettings, 20, runs);
    expect(reading.stated.ratio).toBeGreaterThan(0.95);
    expect(reading.stated.ratio).toBeLessThan(1.05);
    expect(owning.stated.ratio).toBeGreaterThan(1.4);
    expect(owning.stated.ratio).toBeLessThan(1.6);
    expect(owning.rows.map((r) => r.what)).toEqual(numbers);
    const doubled = ratioAt(pair, scaled(statedSettings, 'transfer', 2), 20, runs);
    expect(reading.rows[1]!.doubled.ratio).toBe(doubled);
    // The sentences of content.md and stated.json: what the mail's profile allows, of each rule.
    const near = (of: typeof owning) =>
      casesOf(of)
        .filter(({ off }) => off <= mostOff)
        .map(({ ratio }) => ratio);
    expect(Math.min(...near(owning))).toBeGreaterThan(1.45);
    expect(Math.max(...near(owning))).toBeLessThan(1.6);
    expect(Math.max(...casesOf(owning).map(({ ratio }) => ratio))).toBeGreaterThan(1.8);
    expect(near(reading).length).toBeGreaterThan(2);
    expect(Math.max(...near(reading))).toBeLessThan(1.15);
    expect(scaled(statedSettings, 'handover', 4).handover).toBe(1);
  });

  test('an interval holds its median; a schedule without time predicts no rate', () => {
    const point = pointAt(pair.before, { ...statedSettings, schedule: 'random' }, 4, runs);
    expect(point.opsPerS.median).toBeNaN();
    expect(point.busEventsPerOp.low).toBeLessThanOrEqual(point.busEventsPerOp.median);
    expect(point.busEventsPerOp.high).toBeGreaterThanOrEqual(point.busEventsPerOp.median);
  });
});

describe('predictor', () => {
  const request = {
    arms: [
      { arm: 'stock', streams: pair.before },
      { arm: 'moved', streams: pair.after },
      { arm: 'empty', streams: [] },
    ],
    settings: statedSettings,
    cpus: [2, 4],
    runs: { seeds: [1], ops: 100 },
  };

  test('grows step by step, and is done', () => {
    const steps = [...predictionSteps(request)];
    expect(steps.map((s) => s.curves[0]!.points.length)).toEqual([1, 2, 2]);
    expect(steps.map((s) => s.done)).toEqual([false, false, true]);
    expect(steps.at(-1)!.curves[2]!.points).toEqual([]);
    const two = { ...request, arms: request.arms.slice(0, 2), compareAt: 4 };
    const last = [...predictionSteps(two)].at(-1)!;
    expect(last.sensitivity!.cpus).toBe(4);
    expect(last.profile.map(({ arm }) => arm)).toEqual(['stock', 'moved']);
    expect([...predictionSteps({ ...two, owning: false })]).not.toEqual([...predictionSteps(two)]);
  });

  const answered = async (result: unknown[], n: number) =>
    vi.waitFor(() => expect(result.length).toBeGreaterThanOrEqual(n), { timeout: 60_000 });

  test('without a worker it works here; a newer request drops the older', async () => {
    const result: (Prediction | { complaint: string })[] = [];
    const predictor = createPredictor((one) => result.push(one));
    predictor.ask({ ...request, cpus: Array.from({ length: 60 }, (_, i) => i + 2) });
    predictor.ask(request);
    await vi.waitFor(() => expect((result.at(-1) as Prediction).done).toBe(true), {
      timeout: 60_000,
    });
    expect(result.length).toBeLessThan(8);
    predictor.drop();
    predictor.close();
  });

  test('what cannot be predicted is complained about', async () => {
    const result: (Prediction | { complaint?: string })[] = [];
    const predictor = createPredictor((one) => result.push(one));
    predictor.ask({ ...request, cpus: [99] });
    await answered(result, 1);
    expect(result[0]).toEqual({
      complaint: 'CPUs must be a whole number from 1 to 64, but 99 came',
    });
  });

  test('a worker that does not start is replaced by this thread', async () => {
    const made: Broken[] = [];
    class Broken {
      onerror = (_: { preventDefault(): void }) => {};
      constructor() {
        made.push(this);
      }
      postMessage() {}
      terminate() {}
    }
    vi.stubGlobal('Worker', Broken);
    const result: (Prediction | { complaint: string })[] = [];
    const predictor = createPredictor((one) => result.push(one));
    predictor.ask(request);
    made[0]!.onerror({ preventDefault: () => {} });
    await answered(result, 3);
    predictor.close();
    vi.unstubAllGlobals();
  });
});
