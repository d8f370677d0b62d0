// SPDX-License-Identifier: GPL-2.0-or-later
import { beforeEach, expect, test, vi } from 'vitest';
import { FakeSocket } from '../../test/fixtures/fake-socket.ts';
import { directDecoder } from './decoder.ts';
import { backoffMs, type Connection, closeReason, openSocket } from './socket.ts';

function connectFake() {
  const connections: Connection[] = [];
  const messages: unknown[] = [];
  const complaints: string[] = [];
  const socket = openSocket({
    url: 'ws://page/ws',
    makeSocket: () => new FakeSocket() as unknown as WebSocket,
    makeDecoder: directDecoder,
    random: () => 0.5,
    onMessage: (message) => messages.push(message),
    onConnection: (connection) => connections.push(connection),
    onComplaint: (sentence) => complaints.push(sentence),
  });
  return { socket, connections, messages, complaints };
}

beforeEach(() => {
  FakeSocket.made = [];
  vi.useFakeTimers();
});

test('a broken connection is tried again, and the lesson is opened again', () => {
  const { socket, connections } = connectFake();
  FakeSocket.made[0]!.open();
  socket.send({ type: 'open', lesson: '02-grace-periods' });
  FakeSocket.made[0]!.drop(1006);
  expect(connections.at(-1)).toEqual({
    state: 'retry',
    reason: 'The connection to the server broke.',
    retryInMs: 250,
  });
  vi.advanceTimersByTime(251);
  FakeSocket.made[1]!.open();
  expect(FakeSocket.made[1]!.sent).toEqual([{ type: 'open', lesson: '02-grace-periods' }]);
  expect(connections.at(-1)!.state).toBe('open');
});

test('after a break a page asks for the live run that it was moved to', () => {
  const { socket } = connectFake();
  FakeSocket.made[0]!.open();
  socket.send({ type: 'open', lesson: 'x', step: 'one' });
  FakeSocket.made[0]!.receive({ type: 'begun', run_id: 'kept:x:run-1' });
  FakeSocket.made[0]!.drop(1006);
  vi.advanceTimersByTime(251);
  FakeSocket.made[1]!.open();
  expect(FakeSocket.made[1]!.sent).toEqual([{ type: 'open', lesson: 'x', run: 'kept:x:run-1' }]);
});

test('a refusal is final and says why', () => {
  const { connections } = connectFake();
  FakeSocket.made[0]!.open();
  FakeSocket.made[0]!.drop(1008, '20 malformed messages');
  vi.advanceTimersByTime(60_000);
  expect(FakeSocket.made.length).toBe(1);
  expect(connections.at(-1)).toEqual({
    state: 'closed',
    reason: '20 malformed messages',
    retryInMs: null,
  });
});

test('what a person said while there was no connection is said once there is', () => {
  const { socket } = connectFake();
  socket.send({ type: 'stop' });
  FakeSocket.made[0]!.open();
  expect(FakeSocket.made[0]!.sent).toEqual([{ type: 'stop' }]);
});

test('handled messages are acked in groups, counted anew on each connection', () => {
  const { messages } = connectFake();
  FakeSocket.made[0]!.open();
  for (let i = 0; i < 257; i++) {
    FakeSocket.made[0]!.receive({ type: 'begun', run_id: 'r' });
  }
  expect(messages.length).toBe(257);
  expect(FakeSocket.made[0]!.sent).toEqual([
    { type: 'ack', n: 128 },
    { type: 'ack', n: 256 },
  ]);
});

test('a connection on which nothing comes any more is replaced', () => {
  const { connections, messages } = connectFake();
  const first = FakeSocket.made[0]!;
  first.open();
  for (let i = 0; i < 10; i++) {
    vi.advanceTimersByTime(15_000);
    first.receive({ type: 'heartbeat' });
  }
  expect(FakeSocket.made.length).toBe(1);
  expect(messages).toEqual([]);
  vi.advanceTimersByTime(50_000);
  expect(first.readyState).toBe(3);
  expect(FakeSocket.made.length).toBe(2);
  expect(connections.map(({ state, reason }) => [state, reason]).slice(-2)).toEqual([
    ['retry', 'The server does not answer.'],
    ['connecting', ''],
  ]);
  // Messages from the former socket are ignored.
  first.receive({ type: 'begun', run_id: 'r' });
  first.drop(1006);
  expect(messages).toEqual([]);
  FakeSocket.made[1]!.open();
  expect(connections.at(-1)!.state).toBe('open');
});

test('a server that takes no connection is asked anew', () => {
  const { connections } = connectFake();
  vi.advanceTimersByTime(25_000);
  expect(FakeSocket.made.length).toBe(2);
  expect(connections.some(({ state }) => state === 'open')).toBe(false);
});

test('close codes: who may come back', () => {
  const retry = [1000, 1001, 1006, 1011, 1012, 1013, 4408].filter((c) => closeReason(c, '').retry);
  expect(retry).toEqual([1000, 1001, 1006, 1011, 1012, 1013, 4408]);
  expect([1002, 1003, 1008, 4000].some((c) => closeReason(c, '').retry)).toBe(false);
});

test('waiting doubles up to 8 s, and dice spread it by a quarter', () => {
  expect([0, 1, 2, 5, 50].map((n) => backoffMs(n, 0.5))).toEqual([250, 500, 1000, 8000, 8000]);
  expect([backoffMs(0, 0), backoffMs(0, 1)]).toEqual([187.5, 312.5]);
});

test('a full server says so, and is asked again slowly', () => {
  expect(closeReason(1013, '').reason).toContain('no room');
  expect(closeReason(1013, 'the server has no room for another page').reason).toContain('no room');
  expect([0, 1, 9].map((n) => backoffMs(n, 0.5, 1013))).toEqual([15000, 15000, 15000]);
});
