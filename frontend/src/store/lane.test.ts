// SPDX-License-Identifier: GPL-2.0-or-later
import { encode } from '@msgpack/msgpack';
import { expect, test } from 'vitest';
import { runMessage } from '../../test/fixtures/messages.ts';
import { ns } from '../base/units.ts';
import { decodeMessage } from '../protocol/decode.ts';
import type { LensMessage, SampleMessage } from '../protocol/messages.ts';
import { Samples, sampleAt } from './lane.ts';
import { Store } from './store.ts';

function sample(seq: number, t: number, probe = 'shrinker-maps'): SampleMessage {
  return {
    type: 'sample',
    run_id: 'r',
    arm: 'a',
    probe,
    seq,
    t_ns: t,
    error_ns: 5,
    clock: 'host',
    took_ns: 100,
    torn: 0,
    failed: 0,
    n: 2,
    columns: { map: Uint32Array.of(1, 2, 3, 4) },
    facts: { words: 2 },
    texts: [],
  };
}

test('a view draws the newest sample at or before its moment', () => {
  const store = new Store();
  store.dispatch(runMessage('r', ['a', 'b'], 'running', 'live'));
  for (const [seq, t] of [-10, 100, 200].entries()) store.dispatch(sample(seq, t));
  const list = store.shown()!.lane('a').samples('shrinker-maps');
  expect(list.map((s) => s.t)).toEqual([-10, 100, 200]);
  expect(sampleAt(list, ns(-11))).toBeNull();
  expect(sampleAt(list, ns(100))?.seq).toBe(1);
  expect(sampleAt(list, ns(199))?.seq).toBe(1);
  expect(sampleAt(list, ns(9999))?.seq).toBe(2);
  expect(store.shown()!.lane('a').samples('srcu-gp')).toEqual([]);
  expect(store.shown()!.lane('b').samples('shrinker-maps')).toEqual([]);
});

test('samples are in order of time, and a resent series replaces the old one', () => {
  const samples = new Samples();
  for (const [seq, t] of [0, 30, 20].entries()) samples.take(sample(seq, t));
  expect(samples.of('shrinker-maps').map((s) => s.t)).toEqual([0, 20, 30]);
  samples.take(sample(1, 99));
  expect(samples.of('shrinker-maps').length).toBe(3);
  samples.take(sample(0, 7));
  expect(samples.of('shrinker-maps').map((s) => s.t)).toEqual([7]);
});

test('the oldest samples go when there are too many', () => {
  const samples = new Samples({ bytes: 1e9, samples: 3 });
  for (let seq = 0; seq < 9; seq += 1) samples.take(sample(seq, seq));
  expect(samples.of('shrinker-maps').map((s) => s.seq)).toEqual([6, 7, 8]);
});

test('the newest word on the lens counts', () => {
  const store = new Store();
  store.dispatch(runMessage('r', ['a'], 'running', 'live'));
  const counts = { samples: 0, torn: 0, failed: 0, dropped: 0 };
  const head = {
    type: 'lens',
    run_id: 'r',
    arm: 'a',
    lens: 'xray',
    message: '',
    remedy: '',
  } as const;
  const lens = (state: LensMessage['state']): LensMessage => ({
    ...head,
    ...counts,
    state,
    route: 'memory',
  });
  expect(store.shown()!.lane('a').lenses.size).toBe(0);
  store.dispatch(lens('attaching'));
  store.dispatch(lens('on'));
  expect(store.shown()!.lane('a').lenses.get('xray')?.state).toBe('on');
});

test('columns of a sample may be wider than its rows', () => {
  const bytes = new Uint8Array(Uint32Array.of(7, 8, 9, 10).buffer);
  const wire = { ...sample(0, 1), columns: { map: bytes }, dtypes: { map: 'u4' } };
  const message = decodeMessage(encode(wire)) as SampleMessage;
  expect([...message.columns['map']!]).toEqual([7, 8, 9, 10]);
  const torn = { ...wire, columns: { map: bytes.subarray(0, 15) } };
  expect(() => decodeMessage(encode(torn))).toThrow(/bytes/);
});
