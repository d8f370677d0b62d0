// SPDX-License-Identifier: GPL-2.0-or-later
import { encode } from '@msgpack/msgpack';
import { expect, test, vi } from 'vitest';
import { segmentMessages } from './decoder.ts';
import type { SegmentsMessage, ServerMessage } from './messages.ts';
import { Gone, SegmentFeed } from './segments.ts';

const run = 'r-1';

/** A message of a run that can be identified by its number. */
const numbered = (to_seq: number, run_id = run): ServerMessage => ({
  ...{ type: 'gap', run_id, arm: 'srcu', table: 'spans' },
  ...{ from_seq: 0, to_seq, rows: 1 },
});

function packed(...messages: readonly object[]): ArrayBuffer {
  const parts = messages.map((message) => encode(message));
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + 4 + part.byteLength, 0));
  let at = 0;
  for (const part of parts) {
    new DataView(bytes.buffer).setUint32(at, part.byteLength, true);
    bytes.set(part, at + 4);
    at += 4 + part.byteLength;
  }
  return bytes.buffer;
}

/** A server with segments. Segment n contains the messages 10n and 10n + 1. */
class Shelf {
  readonly asked: string[] = [];
  lists = 0;
  readonly gone = new Set<string>();
  /** Promises for which the answers wait, by the name of the segment. */
  readonly slow = new Map<string, Promise<void>>();
  failures = 0;
  count: number;
  cut: string;

  constructor(count: number, cut = 'a') {
    this.count = count;
    this.cut = cut;
  }

  listing(from = 0, to = this.count, run_id = run): SegmentsMessage {
    const segments = Array.from({ length: to - from }, (_, i) => ({
      ...{ n: from + i, digest: `${this.cut}${from + i}`, bytes: 9, through_ns: 1 },
    }));
    return { type: 'segments', run_id, segments };
  }

  readonly source = {
    segment: async (_: string, name: string, signal: AbortSignal) => {
      this.asked.push(name);
      await this.slow.get(name);
      signal.throwIfAborted();
      if (this.failures-- > 0) throw new Error('the line broke');
      if (this.gone.has(name)) throw new Gone(name);
      const n = Number.parseInt(name, 10);
      return packed(numbered(10 * n), numbered(10 * n + 1));
    },
    list: async () => {
      this.lists += 1;
      return this.listing();
    },
  };
}

function watch(shelf: Shelf) {
  const got: number[] = [];
  const others: ServerMessage[] = [];
  const complaints: string[] = [];
  const feed = new SegmentFeed({
    source: shelf.source,
    decode: async (bytes) => segmentMessages(bytes),
    deliver: (message) => {
      if (message.type === 'gap') got.push(message.to_seq);
      else others.push(message);
    },
    complain: (sentence) => complaints.push(sentence),
    retryMs: () => 1,
  });
  const until = (n: number) =>
    vi.waitFor(() => expect(got).toHaveLength(n), { timeout: 60_000, interval: 2 });
  return { feed, got, others, complaints, until };
}

const begun: ServerMessage = { type: 'begun', run_id: run };

test('segments are applied by number, though a later one comes first', async () => {
  const shelf = new Shelf(3);
  let release = () => {};
  shelf.slow.set('0-a0', new Promise((done) => (release = done)));
  const { feed, got, complaints, until } = watch(shelf);
  feed.take(shelf.listing(), 0);
  await vi.waitFor(() => expect(shelf.asked).toHaveLength(3));
  expect(got).toEqual([]);
  release();
  await until(6);
  expect(got).toEqual([0, 1, 10, 11, 20, 21]);
  expect(complaints).toEqual([]);
});

test('messages of the run wait behind the segments before them; others pass', async () => {
  const shelf = new Shelf(2);
  const { feed, got, others, until } = watch(shelf);
  feed.take(shelf.listing(), 0);
  feed.take(numbered(99), 0);
  feed.take({ type: 'control', run_id: run, by: 'you', may_take: true, yours: true }, 0);
  expect(others).toHaveLength(1);
  expect(got).toEqual([]);
  await until(5);
  expect(got).toEqual([0, 1, 10, 11, 99]);
});

test('what is announced later is fetched alone, each segment once', async () => {
  const shelf = new Shelf(3);
  const { feed, got, until } = watch(shelf);
  feed.take(shelf.listing(0, 2), 0);
  await until(4);
  feed.take(shelf.listing(2, 3), 0);
  await until(6);
  expect(shelf.asked).toEqual(['0-a0', '1-a1', '2-a2']);
  expect(got).toEqual([0, 1, 10, 11, 20, 21]);
});

test('numbers that were not announced are looked for in the list', async () => {
  const shelf = new Shelf(5);
  const { feed, got, until } = watch(shelf);
  feed.take(shelf.listing(0, 1), 0);
  feed.take(shelf.listing(4, 5), 0);
  await until(10);
  expect(got).toEqual([0, 1, 10, 11, 20, 21, 30, 31, 40, 41]);
  expect(shelf.lists).toBe(1);
});

test('a segment that does not come is asked for again', async () => {
  const shelf = new Shelf(2);
  shelf.failures = 3;
  const { feed, got, complaints, until } = watch(shelf);
  feed.take(shelf.listing(), 0);
  await until(4);
  expect(got).toEqual([0, 1, 10, 11]);
  expect(complaints).toEqual([]);
});

test('one that never comes leaves a gap, in a sentence; what came behind it is shown', async () => {
  const shelf = new Shelf(1);
  shelf.failures = 99;
  const { feed, got, complaints, until } = watch(shelf);
  feed.take(shelf.listing(), 0);
  feed.take(numbered(50), 0);
  await until(1);
  expect(got).toEqual([50]);
  expect(complaints).toEqual([expect.stringContaining('the line broke')]);
});

test('after a reconnect only what is lacking is fetched', async () => {
  const shelf = new Shelf(4);
  const { feed, got, until } = watch(shelf);
  feed.take(shelf.listing(0, 2), 0);
  await until(4);
  feed.take(shelf.listing(), 0); // the list that a server sends after a reconnect
  await until(8);
  expect(shelf.asked).toEqual(['0-a0', '1-a1', '2-a2', '3-a3']);
  expect(got).toEqual([0, 1, 10, 11, 20, 21, 30, 31]);
});

test('a page that had messages between takes the whole list, so that nothing is there twice', async () => {
  const shelf = new Shelf(2);
  const { feed, got, until } = watch(shelf);
  feed.take(shelf.listing(0, 1), 0);
  feed.take(numbered(10), 0);
  await until(3);
  feed.take(shelf.listing(), 0);
  await until(7);
  expect(got.slice(3)).toEqual([0, 1, 10, 11]);
});

test('a run that was cut anew begins anew', async () => {
  const shelf = new Shelf(2);
  const { feed, got, complaints, until } = watch(shelf);
  shelf.gone.add('1-a1');
  const former = shelf.listing();
  shelf.cut = 'b';
  feed.take(former, 0);
  await until(6);
  expect(got).toEqual([0, 1, 0, 1, 10, 11]);
  expect(complaints).toEqual([]);
});

test('a segment that is gone for good is said in a sentence', async () => {
  const shelf = new Shelf(1);
  shelf.gone.add('0-a0');
  const { feed, complaints } = watch(shelf);
  feed.take(shelf.listing(), 0);
  await vi.waitFor(() => expect(complaints).toHaveLength(1), { timeout: 60_000 });
  expect(complaints[0]).toContain('no longer exists');
});

test('nothing more of a run comes once another is asked for', async () => {
  const shelf = new Shelf(2);
  const { feed, got, others } = watch(shelf);
  feed.take(shelf.listing(), 0);
  feed.forget();
  feed.take(shelf.listing(0, 1, 'r-2'), 0);
  feed.take(begun, 0);
  expect(others).toEqual([begun]);
  await new Promise((done) => setTimeout(done, 30));
  expect(got).toEqual([]);
});

test('a segment that is cut off is a complaint, not an end', async () => {
  expect(segmentMessages(new Uint8Array([9, 0, 0]).buffer)).toEqual([
    { complaint: expect.stringContaining('cut off') },
  ]);
});
