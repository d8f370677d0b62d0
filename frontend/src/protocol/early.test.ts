// SPDX-License-Identifier: GPL-2.0-or-later
import { beforeEach, expect, test, vi } from 'vitest';
import { FakeSocket } from '../../test/fixtures/fake-socket.ts';
import { connectEarly, socketUrl, takeSocket } from './early.ts';
import { encode } from './msgpack.ts';

test.each([
  ['http://localhost:8642/', 'ws://localhost:8642/ws'],
  ['https://lab.example.org/duet/', 'wss://lab.example.org/duet/ws'],
  ['https://lab.example.org/duet/index.html?lesson=x#y', 'wss://lab.example.org/duet/ws'],
  ['http://[::1]:8642/user/a/proxy/8642/?run=b', 'ws://[::1]:8642/user/a/proxy/8642/ws'],
])('the socket of %s is beside the page', (href, socket) => {
  expect(socketUrl({ href })).toBe(socket);
});

const page = { href: 'http://x/?lesson=02-grace-periods' };
const opening = { type: 'open', lesson: '02-grace-periods' } as const;

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('WebSocket', FakeSocket);
  FakeSocket.made = [];
});

/** Take the socket as openSocket does; `seen` is what its handlers get. */
function taken() {
  const socket = takeSocket('ws://x/ws') as WebSocket;
  const seen: unknown[] = [];
  socket.onopen = () => seen.push('open');
  socket.onmessage = ({ data }) => seen.push(data);
  socket.onclose = ({ code }) => seen.push(code);
  return { socket, seen };
}

test('messages that come before the page has its code wait for it, in order', () => {
  connectEarly(page, opening);
  const [made] = FakeSocket.made;
  made!.open();
  expect(made!.sent).toEqual([opening]);
  made!.onmessage?.({ data: 1 });
  made!.onmessage?.({ data: 2 });
  const { seen } = taken();
  made!.onmessage?.({ data: 3 });
  expect(seen).toEqual([]);
  vi.runAllTimers();
  made!.onmessage?.({ data: 4 });
  made!.onclose?.({ code: 1001, reason: '' });
  expect(seen).toEqual(['open', 1, 2, 3, 4, 1001]);
  expect(FakeSocket.made).toHaveLength(1);
});

test('a page that takes the socket before it is open is informed when it opens', () => {
  connectEarly(page, null);
  const { seen } = taken();
  vi.runAllTimers();
  expect(seen).toEqual([]);
  FakeSocket.made[0]!.open();
  expect(seen).toEqual(['open']);
});

test('the message that was sent early is not sent again, another one is', () => {
  connectEarly(page, opening);
  const [made] = FakeSocket.made;
  made!.open();
  const { socket } = taken();
  vi.runAllTimers();
  socket.send(encode(opening));
  expect(made!.sent).toHaveLength(1);
  socket.send(encode(opening));
  expect(made!.sent).toHaveLength(2);
});

test('a page that asks for something else asks for it', () => {
  connectEarly(page, opening);
  const [made] = FakeSocket.made;
  made!.open();
  const { socket } = taken();
  vi.runAllTimers();
  socket.send(encode({ ...opening, run: 'other' }));
  socket.send(encode(opening));
  expect(made!.sent).toHaveLength(3);
});

test('a socket that has closed is not taken, and one is taken once', () => {
  connectEarly(page, opening);
  FakeSocket.made[0]!.close();
  taken();
  expect(FakeSocket.made).toHaveLength(2);
  connectEarly(page, opening);
  taken();
  taken();
  expect(FakeSocket.made).toHaveLength(4);
});
