// SPDX-License-Identifier: GPL-2.0-or-later
import { expect, test } from 'vitest';
import { socketUrl } from './connect.ts';

test.each([
  ['http://localhost:8642/', 'ws://localhost:8642/ws'],
  ['https://lab.example.org/duet/', 'wss://lab.example.org/duet/ws'],
  ['https://lab.example.org/duet/index.html?lesson=x#y', 'wss://lab.example.org/duet/ws'],
  ['http://[::1]:8642/user/a/proxy/8642/?run=b', 'ws://[::1]:8642/user/a/proxy/8642/ws'],
])('the socket of %s is beside the page', (href, socket) => {
  expect(socketUrl({ href })).toBe(socket);
});
