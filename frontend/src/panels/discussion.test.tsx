// @vitest-environment happy-dom
// SPDX-License-Identifier: GPL-2.0-or-later
import { cleanup, render, screen, within } from '@testing-library/react';
import { afterEach, describe, expect, it } from 'vitest';
import type { Remark, Trial } from '../protocol/lesson.ts';
import { commitAddress, Discussion, dateWords, trialAddress } from './discussion.tsx';

afterEach(cleanup);

const trial: Trial = {
  title: 'nine hogs',
  step: 'three',
  arms: ['rwsem', 'srcu'],
  params: { hogs: 9 },
  workload: null,
  clock: null,
  patch: 'srcu',
};
const remark: Remark = {
  said: 'A `band-aid`.',
  became: 'Reverted.',
  sources: [
    {
      by: 'A Person',
      date: '2023-06-06',
      subject: 'Re: a patch',
      link: 'https://a.example/m',
      commit: '',
    },
    { by: 'Another', date: '', subject: 'a revert', link: '', commit: 'f95bdb700bc6bb74' },
  ],
  tried: [trial],
  untried: '',
};

describe('what was said', () => {
  it('names who said it, links to the message and to the commit', () => {
    render(<Discussion slug="02-grace-periods" discussion={[remark]} />);
    const entry = within(screen.getByTestId('remark'));
    expect(entry.getByText('A Person')).toBeTruthy();
    expect(entry.getByText('6 June 2023')).toBeTruthy();
    expect(entry.getByText('Re: a patch').getAttribute('href')).toBe('https://a.example/m');
    expect(entry.getByText('f95bdb700bc6').closest('a')?.getAttribute('href')).toBe(
      commitAddress('f95bdb700bc6bb74'),
    );
    expect(entry.getByText('band-aid').tagName).toBe('CODE');
  });

  it('leads to the arms, the knobs and the patch of a trial', () => {
    render(<Discussion slug="02-grace-periods" discussion={[remark]} />);
    expect(screen.getByText('nine hogs').getAttribute('href')).toBe(
      '?lesson=02-grace-periods&step=three&arms=rwsem,srcu&knobs=hogs:9&side=patch&patch=srcu',
    );
    const usual = { ...trial, arms: [], params: {}, patch: null };
    expect(trialAddress('02-grace-periods', usual, '')).toBe('?lesson=02-grace-periods&step=three');
  });

  it('says why something cannot be tried, and nothing where nothing was said', () => {
    const untried = { ...remark, tried: [], untried: 'no such kernel.' };
    const { rerender } = render(<Discussion slug="a" discussion={[untried]} />);
    expect(screen.getByText('Cannot be tried here: no such kernel.')).toBeTruthy();
    rerender(<Discussion slug="a" discussion={[]} />);
    expect(screen.queryByTestId('discussion')).toBeNull();
  });

  it.each([
    ['2023-06-09', '9 June 2023'],
    ['2022-01', 'January 2022'],
    ['2013', '2013'],
  ])('writes %s as words', (date, words) => expect(dateWords(date)).toBe(words));
});
