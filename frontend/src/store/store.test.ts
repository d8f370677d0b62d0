// SPDX-License-Identifier: GPL-2.0-or-later
import { afterEach, expect, test, vi } from 'vitest';
import { laneMessage, opBatch, runMessage, spanBatch } from '../../test/fixtures/messages.ts';
import type { ServerMessage } from '../protocol/messages.ts';
import { Store } from './store.ts';

afterEach(() => vi.useRealTimers());

const head = (seq: number, watermark = 1000, runId = 'r') => ({ runId, arm: 'a', seq, watermark });
const span = (t0: number, t1: number, row = 0) => ({ t0, t1, row, kind: 0 });

function started(limits?: ConstructorParameters<typeof Store>[0]): Store {
  const store = new Store(limits);
  store.dispatch(runMessage('r', ['a', 'b'], 'running', 'live'));
  return store;
}

test('batches append; columns keep what they had', () => {
  const store = started();
  for (let seq = 0; seq < 40; seq++) {
    store.dispatch(spanBatch(head(seq, seq * 100), [span(seq * 100, seq * 100 + 50)]));
  }
  const { spans, watermark } = store.shown()!.lane('a');
  expect(spans.length).toBe(40);
  expect([...spans.t0.subarray(0, 40)]).toEqual(Array.from({ length: 40 }, (_, i) => i * 100));
  expect(watermark).toBe(3900);
});

test('open spans are replaced as a whole, and their numbers may skip', () => {
  const store = started();
  store.dispatch(spanBatch(head(0), [span(1, 9), span(2, 9, 1)], 'open'));
  store.dispatch(spanBatch(head(7), [span(5, 19)], 'open'));
  const { open, gaps } = store.shown()!.lane('a');
  expect([open.length, open.t0[0], gaps.length]).toEqual([1, 5, 0]);
});

test('a skipped number is reported as a gap, and once only', () => {
  const store = started();
  store.dispatch(spanBatch(head(0), [span(0, 1)]));
  store.dispatch({
    type: 'gap',
    run_id: 'r',
    arm: 'a',
    table: 'spans',
    from_seq: 1,
    to_seq: 4,
    rows: 99,
  });
  store.dispatch(spanBatch(head(5), [span(2, 3)]));
  store.dispatch(spanBatch(head(8), [span(4, 5)]));
  expect(
    store
      .shown()!
      .lane('a')
      .gaps.map((g) => [g.from_seq, g.to_seq, g.rows]),
  ).toEqual([
    [1, 4, 99],
    [6, 7, 0],
  ]);
});

test('what this browser was not sent is lost between its neighbours, not idle', () => {
  const store = started();
  store.dispatch(spanBatch(head(0), [span(0, 100)]));
  store.dispatch({
    type: 'gap',
    run_id: 'r',
    arm: 'a',
    table: 'spans',
    from_seq: 1,
    to_seq: 4,
    rows: 99,
  });
  store.dispatch(spanBatch(head(5), [span(700, 800)]));
  expect(store.shown()!.lane('a').losses).toEqual([
    { t0: 100, t1: 800, events: 99, where: 'browser' },
  ]);
});

test('after a reconnect the table begins anew; a repeated batch is not counted twice', () => {
  const store = started();
  store.dispatch(spanBatch(head(0), [span(0, 1)]));
  store.dispatch(spanBatch(head(1), [span(1, 2)]));
  store.dispatch(spanBatch(head(1), [span(1, 2)]));
  expect(store.shown()!.lane('a').spans.length).toBe(2);
  store.dispatch(spanBatch(head(0), [span(0, 1)]));
  store.dispatch(spanBatch(head(1), [span(1, 2)]));
  store.dispatch(spanBatch(head(2), [span(2, 3)]));
  expect(store.shown()!.lane('a').spans.length).toBe(3);
});

test('a run that is sent once more has its lines once, those before its first spans as well', () => {
  const store = started();
  const say = (t_ns: number, text: string) =>
    store.dispatch({ type: 'line', run_id: 'r', arm: 'a', stream: 'out', text, t_ns });
  for (let times = 0; times < 3; times++) {
    say(5, 'first');
    store.dispatch(spanBatch(head(0), [span(0, 1)]));
    say(9, 'second');
    say(12, 'first');
    const { lines } = store.shown()!.lane('a');
    expect(lines.map((line) => line.text)).toEqual(['first', 'second', 'first']);
  }
});

test('memory is bounded: the oldest go, and the lane says from when its history is', () => {
  const store = started({ spans: 100, lines: 5 });
  for (let seq = 0; seq < 30; seq++) {
    const rows = Array.from({ length: 10 }, (_, i) =>
      span(seq * 100 + i * 10, seq * 100 + i * 10 + 10),
    );
    store.dispatch(spanBatch(head(seq), rows));
  }
  const lane = store.shown()!.lane('a');
  expect(lane.spans.length).toBeLessThanOrEqual(100);
  expect(lane.spans.length + lane.spans.evicted).toBe(300);
  expect(lane.spans.t1[lane.spans.length - 1]).toBe(3000);
  expect(lane.historyFrom).toBe(lane.spans.t1[0]);
});

test('a batch without a column is an error on the page, not a crash', () => {
  const store = started();
  const whole = spanBatch(head(0), [span(0, 1)]);
  const { cpu: _cpu, ...columns } = whole.columns;
  store.dispatch({ ...whole, columns });
  expect(store.errors.get()[0]!.sentence).toContain('lacks the column cpu');
  expect(store.shown()!.lane('a').spans.length).toBe(0);
});

test('the recording stays on show until the live run has events', () => {
  const store = new Store();
  store.dispatch(runMessage('recorded:x', ['a'], 'done'));
  store.dispatch(opBatch(head(0, 1000, 'recorded:x'), [{ t0: 0, t1: 5, row: 0 }]));
  store.dispatch(runMessage('live-1', ['a'], 'booting', 'live'));
  store.dispatch(laneMessage('live-1', 'a', 'booting'));
  expect(store.run.get()!.run_id).toBe('recorded:x');
  expect(store.pending.get()!.run_id).toBe('live-1');
  expect(store.lanes.get().map((l) => l.phase)).toEqual(['booting']);
  store.dispatch(spanBatch(head(0, 5, 'live-1'), [span(0, 5)]));
  expect(store.run.get()!.run_id).toBe('live-1');
  expect(store.pending.get()).toBeNull();
});

test('a live run that fails before its first event leaves the recording on show', () => {
  const store = new Store();
  store.dispatch(runMessage('recorded:x', ['a'], 'done'));
  store.dispatch(opBatch(head(0, 1000, 'recorded:x'), [{ t0: 0, t1: 5, row: 0 }]));
  store.dispatch(runMessage('live-1', ['a'], 'booting', 'live'));
  store.dispatch({
    ...runMessage('live-1', ['a'], 'failed', 'live'),
    message: 'QEMU went away.',
  });
  expect(store.run.get()!.run_id).toBe('recorded:x');
  expect(store.pending.get()).toBeNull();
  expect(store.lost.get()).toContain('live-1');
  expect(store.errors.get().map((error) => error.sentence)).toEqual(['QEMU went away.']);
});

test('a live run ends the wait for a recording that was coming in', () => {
  const store = new Store();
  const id = 'recorded:x';
  store.dispatch(runMessage(id, ['a'], 'done'));
  store.dispatch({ type: 'reading', run_id: id, read: 1, total: 9, whole: false });
  expect(store.reading.get()).not.toBeNull();
  store.dispatch(runMessage('kept:x:run-1', ['a'], 'preparing', 'live'));
  expect(store.reading.get()).toBeNull();
});

test('a live run that comes again out of its file begins anew', () => {
  const store = new Store();
  const id = 'kept:x:run-1';
  store.dispatch(runMessage(id, ['a'], 'running', 'live'));
  store.dispatch(spanBatch(head(0, 5, id), [span(0, 2), span(3, 5)]));
  store.dispatch(spanBatch(head(1, 9, id), [span(6, 9)]));
  const { version } = store.shown()!;
  store.dispatch(runMessage(id, ['a'], 'done', 'recorded'));
  expect(store.shown()!.version).toBeGreaterThan(version);
  store.dispatch(spanBatch(head(0, 9, id), [span(0, 2), span(3, 5), span(6, 9)]));
  expect(store.shown()!.lane('a').spans.length).toBe(3);
});

test('only the part that changed is reported', () => {
  const store = started();
  let events = 0;
  let builds = 0;
  store.events.subscribe(() => events++);
  store.builds.subscribe(() => builds++);
  store.dispatch(spanBatch(head(0), [span(0, 1)]));
  expect([events, builds]).toEqual([1, 0]);
});

test('builds of equally named arms of two lessons are two', () => {
  const store = started();
  const build = { type: 'build' as const, arms: ['stock'], arm: 'stock', done: 0, total: 0 };
  const rest = { elapsed_s: 0, message: '', error: null };
  for (const lesson of ['03-x', '04-x', '03-x']) {
    store.dispatch({ ...build, ...rest, lesson, phase: 'compile' as const });
  }
  expect(store.builds.get().map((one) => one.lesson)).toEqual(['04-x', '03-x']);
});

test('knobs of a model change what is made of a run, of those to come as well', () => {
  const store = started();
  const before = store.shown()!.version;
  store.setModel({ cpus: 20 });
  expect(store.shown()!.model).toEqual({ cpus: 20 });
  expect(store.shown()!.version).toBeGreaterThan(before);
  store.dispatch(runMessage('live-9', ['a'], 'running', 'live'));
  store.dispatch(spanBatch(head(0, 5, 'live-9'), [span(0, 5)]));
  expect(store.shown()!.model).toEqual({ cpus: 20 });
});

const reading = (read: number, whole = false, run_id = 'rec') => ({
  type: 'reading' as const,
  run_id,
  read,
  total: 100,
  whole,
});

function coming(): Store {
  const store = new Store();
  store.dispatch(runMessage('rec', ['a'], 'done'));
  store.dispatch(laneMessage('rec', 'a', 'done'));
  store.dispatch(reading(0));
  return store;
}

test('a recording that comes in has not ended, and says how far it is until it is whole', () => {
  vi.useFakeTimers();
  const store = coming();
  vi.advanceTimersByTime(1000);
  store.dispatch(spanBatch(head(0, 1000, 'rec'), [span(0, 5)]));
  store.dispatch(reading(40));
  expect(store.reading.get()!.read).toBe(40);
  expect([store.shown()!.coming, store.shown()!.lane('a').ended]).toEqual([true, false]);
  expect(store.shown()!.lane('b').ended).toBe(false);
  store.dispatch(reading(100, true));
  expect(store.reading.get()).toBeNull();
  expect([store.shown()!.coming, store.shown()!.lane('a').ended]).toEqual([false, true]);
});

test('progress of loading is reported at intervals, the beginning and the end of each recording at once', () => {
  vi.useFakeTimers();
  const store = coming();
  let reports = 0;
  store.reading.subscribe(() => reports++);
  for (let read = 1; read < 50; read++) {
    vi.advanceTimersByTime(20);
    store.dispatch(reading(read));
  }
  expect(reports).toBe(2);
  store.dispatch(reading(100, true));
  store.dispatch(reading(0, false, 'next'));
  expect([reports, store.reading.get()?.run_id]).toEqual([4, 'next']);
  store.dispatch(reading(0, false, 'another'));
  expect([reports, store.reading.get()?.run_id]).toEqual([5, 'another']);
});

test('who draws a recording gets its first events at once, further ones calmly, and its end at once', () => {
  vi.useFakeTimers();
  const store = coming();
  let events = 0;
  store.events.subscribe(() => events++);
  vi.advanceTimersByTime(1000);
  for (let seq = 0; seq < 50; seq++) {
    store.dispatch(spanBatch(head(seq, 1000, 'rec'), [span(0, 5)]));
  }
  expect(events).toBe(1);
  vi.advanceTimersByTime(1000);
  expect(events).toBe(2);
  store.dispatch(spanBatch(head(50, 1000, 'rec'), [span(0, 5)]));
  store.dispatch(spanBatch(head(51, 1000, 'rec'), [span(0, 5)]));
  expect(events).toBe(3);
  store.dispatch(reading(100, true));
  expect(events).toBe(4);
  vi.advanceTimersByTime(1000);
  expect(events).toBe(4);
  // Events of a live run are announced batch by batch.
  store.dispatch(runMessage('live-1', ['a'], 'running', 'live'));
  const before = events;
  for (let seq = 0; seq < 5; seq++) {
    store.dispatch(spanBatch(head(seq, 1000, 'live-1'), [span(0, 5)]));
  }
  expect(events - before).toBeGreaterThanOrEqual(4);
});

test('a recording that breaks half-way leaves the stage, and may come another time', () => {
  const store = coming();
  store.dispatch(spanBatch(head(0, 1000, 'rec'), [span(0, 5)]));
  store.dispatch({
    ...{ type: 'error', code: 'x', sentence: 'It is broken.', remedy: 'Record it again.' },
    ...{ detail: '', run: 'rec' },
  });
  expect([store.run.get(), store.shown(), store.reading.get()]).toEqual([null, null, null]);
  expect(store.lanes.get()).toEqual([]);
  expect([...store.lost.get()]).toEqual(['rec']);
  expect(store.errors.get().map((e) => e.sentence)).toEqual(['It is broken.']);
  store.dispatch(runMessage('rec', ['a'], 'done'));
  expect(store.lost.get().size).toBe(0);
  expect(store.shown()!.lane('a').spans.length).toBe(0);
});

test('an error about a run that was never there takes nothing off the stage', () => {
  const store = coming();
  store.dispatch({
    ...{ type: 'error', code: 'x', sentence: 'No such run.', remedy: 'Choose another.' },
    ...{ detail: '', run: 'live-7' },
  });
  expect(store.run.get()!.run_id).toBe('rec');
  expect([...store.lost.get()]).toEqual(['live-7']);
  store.forgive('live-7');
  expect(store.lost.get().size).toBe(0);
});

test('why a run failed stands there once, with the remedy that the server knows', () => {
  const store = new Store();
  const sentence = 'the hosts are busy.';
  const error = { type: 'error' as const, sentence, remedy: 'Run again.', detail: '' };
  store.complain({ ...error, code: 'run' });
  store.complain({ ...error, code: 'infra', remedy: 'Play the recording.' });
  expect(store.errors.get().map(({ remedy }) => remedy)).toEqual(['Play the recording.']);
  store.complain({ ...error, code: 'run', sentence: 'another one.' });
  expect(store.errors.get()).toHaveLength(2);
});

test('messages for plug-ins reach whoever listens, in order', () => {
  const store = new Store();
  const came: unknown[] = [];
  store.news.subscribe(() => came.push(store.news.get()));
  // The store passes on messages that only plug-ins handle.
  const news = (count: number) => ({ type: 'plugin_news', count }) as unknown as ServerMessage;
  store.dispatch(news(1));
  store.dispatch(news(2));
  expect(came).toEqual([news(1), news(2)]);
});
