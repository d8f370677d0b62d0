// @vitest-environment happy-dom
// SPDX-License-Identifier: GPL-2.0-or-later

import { lightTheme } from '@page/base/theme.ts';
import { cleanup, render, screen } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { statOf } from './fixtures/stat-stream.ts';
import { profileOf, sensitivity } from './model/prediction.ts';
import { statedSettings } from './model/stated.ts';
import { allowedWords, ProfileChart, SensitivityTable, verdict } from './model-tables.tsx';

const runs = { seeds: [1], ops: 400 };
const profiles = (['stock', 'moved'] as const).map((arm) =>
  profileOf(arm, [statOf(arm)], statedSettings, 20, runs),
);
const pair = { before: [statOf('stock')], after: [statOf('moved')] };

afterEach(cleanup);

test('the profile of the mail stands beside both models, in a picture, in words and as a table', () => {
  render(<ProfileChart profiles={profiles} theme={lightTheme} title={(arm) => `the ${arm} one`} />);
  const chart = screen.getByRole('img');
  expect(chart.getAttribute('aria-label')).toMatch(
    /the moved one: get: 41\.0 percent in the mail, 4\d\.\d if loads own the line, (6|7)\d\.\d if they read it;/,
  );
  // Measured: five bars. Modelled: hollow marks, six of each kind.
  expect(chart.querySelectorAll(`rect[fill="${lightTheme.work}"]`)).toHaveLength(5);
  expect(chart.querySelectorAll('circle')).toHaveLength(6);
  expect(chart.querySelectorAll('path')).toHaveLength(6);
  const rows = screen.getByTestId('profile-table').querySelectorAll('tbody tr');
  expect([...rows].map((row) => row.querySelector('td')!.textContent)).toEqual(['26.1', '38.1', '25.6', '41.0', '41.5', '< 1.5']); // biome-ignore format: a column
  expect(screen.getByText(/the mail, measured/)).not.toBeNull();
  expect(screen.getByText(/loads own the line by default/)).not.toBeNull();
});

test('a profile that speaks against the default says so; arms that the mail does not have are left out', () => {
  const turned = profiles.map((one) => ({ ...one, owning: one.reading, reading: one.owning }));
  expect(verdict(turned)).toMatch(/is evidence against the default/);
  render(
    <ProfileChart
      profiles={profiles.map((one) => ({ ...one, arm: 'another' }))}
      theme={lightTheme}
      title={(arm) => arm}
    />,
  );
  expect(screen.queryByTestId('profile')).toBeNull();
});

test('sensitivity of both rules: what the profile refutes is struck out', () => {
  const found = sensitivity(pair, statedSettings, 20, runs);
  render(<SensitivityTable found={found} />);
  const row = (what: string) =>
    screen.getByTestId('sensitivity').querySelectorAll(`tr[data-what=${what}] td`);
  expect(row('own')).toHaveLength(4);
  // Half the other work: nearly twice as many if loads own, and a put that costs nothing.
  expect(row('own')[0]!.hasAttribute('data-out')).toBe(true);
  expect(row('own')[1]!.hasAttribute('data-out')).toBe(false);
  expect(allowedWords(found.owning, 'own')).toMatch(/the ratio is 1\.[45]\d* to 1\.[56]\d*\.$/);
  expect(allowedWords(found.reading, 'read')).toMatch(/the ratio is (0\.9|1)\S* to 1\.[01]\d*\.$/);
});
