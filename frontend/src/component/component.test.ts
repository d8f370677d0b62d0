// SPDX-License-Identifier: GPL-2.0-or-later
import { expect, test } from 'vitest';
import { folderOf, frameAddress, ratioOf } from './frame-address.ts';
import { isFrameMessage } from './frame-messages.ts';

const of = (attributes: Record<string, string>) => (name: string) => attributes[name] ?? null;

test('the folder is that of the script, unless another is named', () => {
  const page = 'https://slides.example.org/talk/';
  expect(folderOf(null, 'https://x.example.org/duet/kernel-duet.js', page)?.href).toBe(
    'https://x.example.org/duet/',
  );
  expect(folderOf('../other/', 'https://x.example.org/duet/k.js', page)?.href).toBe(
    'https://slides.example.org/other/',
  );
  expect(folderOf(null, '', 'file:///talk/index.html')?.href).toBe('file:///talk/');
  for (const wrong of ['javascript:alert(1)', 'data:text/html,x', 'https://[']) {
    expect(folderOf(wrong, '', page)).toBeNull();
  }
});

test('the address has what the attributes name, and nothing else', () => {
  const folder = new URL('https://x.example.org/duet/?lesson=other#top');
  const address = frameAddress(
    folder,
    of({ lesson: '02-grace-periods', step: 'ticks', at: '12.5', onload: 'x', arms: 'a,b' }),
  );
  expect(address).toBe(
    'https://x.example.org/duet/?embed=1&lesson=02-grace-periods&step=ticks&at=12.5&arms=a%2Cb',
  );
  expect(frameAddress(new URL('file:///duet/'), of({}))).toBe('file:///duet/index.html?embed=1');
});

test('a ratio is two numbers', () => {
  expect([ratioOf('4/3'), ratioOf('16:9'), ratioOf(null), ratioOf('1;x')]).toEqual([
    '4 / 3',
    '16 / 9',
    '16 / 10',
    '16 / 10',
  ]);
});

test('messages of others are none of ours', () => {
  expect(isFrameMessage({ kind: 'kernel-duet', act: 'seek', at_ms: 3 })).toBe(true);
  const others = [
    null,
    'play',
    { act: 'play' },
    { kind: 'kernel-duet', act: 'stop' },
    { kind: 'kernel-duet', act: 'seek' },
    { kind: 'kernel-duet', act: 'seek', at_ms: Number.NaN },
    { kind: 'kernel-duet', act: 'keydown' },
    { kind: 'kernel-duet', act: 'keydown', key: 'q' },
    { kind: 'kernel-duet', act: 'keyup', key: 'toString' },
  ];
  for (const other of others) expect(isFrameMessage(other)).toBe(false);
});

test('a language is passed on to the frame', () => {
  const given: Record<string, string> = { lesson: '02-x', lang: 'de' };
  const address = frameAddress(new URL('https://a.example/duet/'), (name) => given[name] ?? null);
  expect(new URL(address).searchParams.get('lang')).toBe('de');
});
