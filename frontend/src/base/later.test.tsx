// SPDX-License-Identifier: GPL-2.0-or-later
// @vitest-environment happy-dom
import { cleanup, render, screen } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import { later } from './later.tsx';

afterEach(cleanup);

test('code is loaded when the component is shown, and later it is there at once', async () => {
  const load = vi.fn(async () => ({ name }: { readonly name: string }) => <p>hello {name}</p>);
  const Greeting = later(load, () => <p>loading</p>);
  expect(load).not.toHaveBeenCalled();
  const first = render(<Greeting name="Ada" />);
  expect(screen.getByText('loading')).toBeTruthy();
  expect(await screen.findByText('hello Ada')).toBeTruthy();
  first.rerender(<Greeting name="Bob" />);
  expect(screen.getByText('hello Bob')).toBeTruthy();
  first.unmount();
  render(<Greeting name="Eve" />);
  expect(screen.getByText('hello Eve')).toBeTruthy();
  expect(load).toHaveBeenCalledTimes(1);
});
