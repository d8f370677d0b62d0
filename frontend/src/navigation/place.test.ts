// SPDX-License-Identifier: GPL-2.0-or-later
import { describe, expect, it } from 'vitest';
import { runIdOf, runNameOf } from '../derive/recording.ts';
import { frontPage, type Place, readPlace, writePlace } from './place.ts';

const place: Place = {
  lesson: '02-grace-periods',
  step: 'ticks',
  moment: 41_234_567,
  speed: 0.006,
  arms: ['rwsem', 'srcu'],
  align: 'operation',
  nth: 100,
  window: { start: 40_000_000, span: 30_000_500 },
  run: '9-hogs',
  beside: 'kept:02-grace-periods:run-20251122-010900',
  knobs: { hogs: 7, vcpus: 2 },
  clock: 'count',
  workload: 'storm',
  panes: ['words', 'knobs'],
  side: 'evidence',
  patch: 'srcu',
  hunk: 3,
  present: 'slides',
  slide: 2,
  embed: true,
};

describe('the address', () => {
  it('restores all of a place', () => {
    expect(readPlace(writePlace(place))).toEqual(place);
    expect(readPlace(writePlace(frontPage))).toEqual(frontPage);
  });

  it('keeps the moment to the nanosecond', () => {
    for (const moment of [0, 1, 999, 123_456_789, 59_999_999_999])
      expect(readPlace(writePlace({ ...place, moment })).moment).toBe(moment);
  });

  it('is short and readable', () => {
    expect(writePlace(place)).toBe(
      '?lesson=02-grace-periods&step=ticks&run=9-hogs&with=kept:02-grace-periods:run-20251122-010900&at=41.234567&from=40&for=30.0005&speed=0.006' +
        '&arms=rwsem,srcu&knobs=hogs:7,vcpus:2&clock=count&workload=storm&align=operation&n=100' +
        '&open=words,knobs&side=evidence&patch=srcu&hunk=3&present=1&slide=2&embed=1',
    );
  });

  it('keeps parameters of others', () => {
    expect(writePlace({ ...frontPage, lesson: 'a' }, '?fixture=1&step=old')).toBe(
      '?fixture=1&lesson=a',
    );
  });

  it('takes lesson and step as people write them', () => {
    const { lesson, step } = readPlace('?lesson=Lesson%2002.&step=Step%203/');
    expect([lesson, step]).toEqual(['02', '3']);
    expect(readPlace('?lesson=Grace%20Periods&step=one+hog').lesson).toBe('grace-periods');
  });

  it('leaves out what makes no sense', () => {
    const bad =
      '?lesson=../etc&step=%3Cb%3E&at=soon&speed=99&arms=,,A%20B&align=up&present=yes&slide=0';
    expect(readPlace(bad)).toEqual(frontPage);
    const worse =
      '?run=../../etc/passwd&with=a%20b&from=-4&for=9&n=0.5&knobs=hogs:nine,a:1:2,__proto__:1,:3&clock=sun' +
      '&open=doors&side=left&patch=%00&hunk=-1&embed=true&workload=A';
    expect(readPlace(worse)).toEqual(frontPage);
    expect(readPlace('?from=4&run=live-3')).toEqual({ ...frontPage, run: 'live-3' });
  });

  it('names recordings by their own name and other runs by their id', () => {
    const lesson = { slug: '02-x', recordings: [{ name: '9-hogs' }], cells: [] } as never;
    for (const id of ['recorded:02-x:9-hogs', 'live-20260301-1', 'kept:abc'])
      expect(runIdOf(lesson, runNameOf(lesson, id))).toBe(id);
    expect(runNameOf(lesson, 'recorded:02-x:9-hogs')).toBe('9-hogs');
  });
});
