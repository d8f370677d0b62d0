// SPDX-License-Identifier: GPL-2.0-or-later
import { gzipSync } from 'node:zlib';
import { decode, encode } from '@msgpack/msgpack';
import { expect, test, vi } from 'vitest';
import { pictureDrawn } from '../base/first-picture.ts';
import type { Site } from '../base/site.ts';
import { directDecoder } from './decoder.ts';
import type { ServerMessage } from './messages.ts';
import { prefetch, SiteSocket, unpackPart } from './site-socket.ts';
import { type Connection, openSocket } from './socket.ts';

const slug = '02-grace-periods';
const ids = { one: `recorded:${slug}:one`, two: `recorded:${slug}:two` };

/** A part of a site, in the form that `duet export` writes. */
function part(...messages: readonly object[]): string {
  const frames = messages.flatMap((message) => {
    const body = encode(message);
    const head = new Uint8Array(4);
    new DataView(head.buffer).setUint32(0, body.byteLength, true);
    return [head, body];
  });
  return gzipSync(Buffer.concat(frames)).toString('base64');
}

const control = { type: 'begun', run_id: 'r' };
const gap = (run_id: string) => ({
  ...{ type: 'gap', run_id, arm: 'rwsem', table: 'spans' },
  ...{ from_seq: 0, to_seq: 1, rows: 2 },
});

function site(change: Partial<Site> = {}): Site {
  const brought = {
    greeting: part(control),
    lesson: part({ type: 'lesson', lesson: { slug } }),
    [ids.one]: part(gap(ids.one), gap(ids.one)),
    [ids.two]: part(gap(ids.two)),
  };
  const parts = Object.fromEntries(Object.keys(brought).map((name) => [name, `${name}.js`]));
  const steps = { look: ids.one, closer: ids.two };
  return {
    lesson: slug,
    first: ids.one,
    steps,
    bundle: null,
    fonts: '',
    worker: '',
    parts,
    brought,
    ...change,
  };
}

/** The page's own socket, connected to a site. */
function play(on: Site) {
  const messages: ServerMessage[] = [];
  const connections: Connection[] = [];
  const socket = openSocket({
    url: 'ws://none/ws',
    makeSocket: () =>
      new SiteSocket(
        on,
        async (s, name) => s.brought[name] ?? Promise.reject(new Error(`no ${name}`)),
      ) as unknown as WebSocket,
    makeDecoder: directDecoder,
    onMessage: (message) => messages.push(message),
    onConnection: (connection) => connections.push(connection),
    onComplaint: (sentence) => expect.fail(sentence),
  });
  const types = () => messages.map((m) => m.type);
  const until = (n: number) =>
    vi.waitFor(() => expect(messages).toHaveLength(n), { timeout: 60_000 });
  return { socket, messages, connections, types, until };
}

test('a lesson and its first run come through the code that reads a server', async () => {
  const { socket, connections, types, until } = play(site());
  await until(1);
  expect(connections.at(-1)?.state).toBe('open');
  socket.send({ type: 'open', lesson: slug });
  await until(4);
  expect(types()).toEqual(['begun', 'lesson', 'gap', 'gap']);
  socket.close();
});

test('another run is played when it is asked for, one that is not there is reported', async () => {
  const { socket, messages, types, until } = play(site());
  await until(1);
  socket.send({ type: 'open', lesson: slug, run: ids.two });
  await until(3);
  expect(messages[2]).toMatchObject({ type: 'gap', run_id: ids.two });
  socket.send({ type: 'open', lesson: slug, run: 'live-7' });
  await until(5);
  expect(types().slice(3)).toEqual(['lesson', 'error']);
  expect(messages[4]).toMatchObject({
    sentence: expect.stringContaining('live-7'),
    run: 'live-7',
  });
});

test('a step gets the run that fits it, a name its own, and `none` the lesson alone', async () => {
  const { socket, messages, until } = play(site());
  await until(1);
  const came = async (what: object, n: number) => {
    messages.length = 0;
    socket.send({ type: 'open', lesson: slug, ...what });
    await until(n);
    return messages.flatMap((m) => (m.type === 'gap' ? [m.run_id] : []));
  };
  expect(await came({ step: 'closer' }, 2)).toEqual([ids.two]);
  expect(await came({ step: 'look' }, 3)).toEqual([ids.one, ids.one]);
  // People type a step's position or a part of its name.
  for (const step of ['2', 'clos']) expect(await came({ step }, 2)).toEqual([ids.two]);
  expect(await came({ step: 'no-such' }, 3)).toEqual([ids.one, ids.one]);
  expect(await came({ step: 'look', run: 'two' }, 2)).toEqual([ids.two]);
  expect(await came({ run: 'none' }, 1)).toEqual([]);
});

test('a later request takes the place of an earlier one', async () => {
  const { socket, messages, until } = play(site());
  await until(1);
  socket.send({ type: 'open', lesson: slug, run: ids.one });
  socket.send({ type: 'open', lesson: slug, run: ids.two });
  await until(3);
  await new Promise((done) => setTimeout(done, 50));
  expect(messages.filter((m) => m.type === 'gap').map((m) => m.run_id)).toEqual([ids.two]);
});

test('what takes a server is refused in a sentence', async () => {
  const { socket, messages, until } = play(site());
  await until(1);
  socket.send({ type: 'stop' });
  socket.send({ type: 'open', lesson: '01-shrinker-bitmaps' });
  socket.send({ type: 'control', take: true });
  await until(3);
  expect(messages[1]).toMatchObject({ sentence: expect.stringContaining('has no server') });
  expect(messages[2]).toMatchObject({
    sentence: expect.stringContaining('contains only the lesson'),
  });
});

test('a part that is missing, cut off or no gzip is reported', async () => {
  const { [ids.one]: whole = '', ...others } = site().brought;
  const framed = Buffer.from(encode(control));
  for (const spoilt of [
    undefined,
    'AAAA',
    gzipSync(framed).toString('base64'),
    whole.slice(0, 40),
  ]) {
    const brought = spoilt === undefined ? others : { ...others, [ids.one]: spoilt };
    const { socket, messages, until } = play(site({ brought }));
    await until(1);
    socket.send({ type: 'open', lesson: slug });
    await until(3);
    expect(messages[2]).toMatchObject({ type: 'error', code: 'site' });
    socket.close();
  }
});

test('parts are unpacked frame by frame', async () => {
  const found = await unpackPart(part(control, gap(ids.one)));
  expect(found.map((bytes) => decode(bytes))).toEqual([control, gap(ids.one)]);
  expect(await unpackPart(part())).toEqual([]);
});

test('a browser that cannot unpack gets a sentence, and is not tried again', async () => {
  vi.stubGlobal('DecompressionStream', undefined);
  const { connections } = play(site());
  await vi.waitFor(() => expect(connections.at(-1)?.state).toBe('closed'), {
    timeout: 60_000,
  });
  expect(connections.at(-1)?.reason).toContain('cannot unpack');
  vi.unstubAllGlobals();
});

test('runs that may be opened next are loaded one at a time; the last call counts', async () => {
  pictureDrawn('a');
  const asked: string[] = [];
  const answers: (() => void)[] = [];
  const fetchPart = (_: Site, name: string) => {
    asked.push(name);
    return new Promise<string>((done) => answers.push(() => done('')));
  };
  const parts = Object.fromEntries(['a', 'b', 'c', 'd'].map((id) => [id, `${id}.js`]));
  const on = site({ parts, brought: { d: '' } });
  prefetch(['a', 'b', 'none', 'd'], on, fetchPart);
  await vi.waitFor(() => expect(asked).toEqual(['a']));
  prefetch(['c', 'd'], on, fetchPart);
  answers[0]?.();
  await vi.waitFor(() => expect(asked).toEqual(['a', 'c']));
  answers[1]?.();
  await new Promise((done) => setTimeout(done, 20));
  expect(asked).toEqual(['a', 'c']);
  prefetch(['a'], null, fetchPart);
  prefetch([], on, fetchPart);
  await new Promise((done) => setTimeout(done, 20));
  expect(asked).toEqual(['a', 'c']);
});
