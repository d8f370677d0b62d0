// SPDX-License-Identifier: GPL-2.0-or-later
import { describe, expect, it } from 'vitest';
import { frontPage, type Place, readPlace, writePlace } from './place.ts';

const place: Place = {
  lesson: '02-grace-periods',
  step: 'ticks',
  moment: 41_234_567,
  speed: 0.006,
  arms: ['rwsem', 'srcu'],
  align: 'operation',
  present: true,
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
      '?lesson=02-grace-periods&step=ticks&at=41.234567&speed=0.006&arms=rwsem,srcu&align=operation&present=1',
    );
  });

  it('keeps parameters of others', () => {
    expect(writePlace({ ...frontPage, lesson: 'a' }, '?fixture=1&step=old')).toBe(
      '?fixture=1&lesson=a',
    );
  });

  it('leaves out what makes no sense', () => {
    const bad = '?lesson=../etc&step=%3Cb%3E&at=soon&speed=99&arms=,,A%20B&align=up&present=yes';
    expect(readPlace(bad)).toEqual(frontPage);
  });
});
