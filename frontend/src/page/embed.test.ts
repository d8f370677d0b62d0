// @vitest-environment happy-dom
// SPDX-License-Identifier: GPL-2.0-or-later
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { passKeys } from './embed.tsx';

const said = vi.fn<(data: { kind: string; act: string; key: string }) => void>();
vi.stubGlobal('parent', { postMessage: said });
let end = () => {};
beforeEach(() => {
  said.mockClear();
  end = passKeys();
});
afterEach(() => {
  end();
  document.body.innerHTML = '';
});

function press(key: string, on: Element = document.body, more: KeyboardEventInit = {}): string[] {
  said.mockClear();
  const init = { key, bubbles: true, cancelable: true, ...more };
  on.dispatchEvent(new KeyboardEvent('keydown', init));
  on.dispatchEvent(new KeyboardEvent('keyup', init));
  return said.mock.calls.map(([data]) => `${data.kind} ${data.act} ${data.key}`);
}

const both = (key: string) => [`kernel-duet keydown ${key}`, `kernel-duet keyup ${key}`];

test('keys that nobody uses go to the deck, with their end', () => {
  for (const key of ['PageDown', 'ArrowRight', 'ArrowUp', ' ', 'Home', 'Escape'])
    expect(press(key)).toEqual(both(key));
  end();
  expect(press('PageDown')).toEqual([]);
});

test('letters, shortcuts and keys that the page uses stay', () => {
  for (const key of ['n', 'Tab', 'Enter', 'F5']) expect(press(key)).toEqual([]);
  for (const held of ['ctrlKey', 'metaKey', 'altKey', 'shiftKey'])
    expect(press('ArrowRight', document.body, { [held]: true })).toEqual([]);
  const used = (event: Event) => event.preventDefault();
  document.addEventListener('keydown', used);
  expect(press('ArrowRight')).toEqual([]);
  expect(press('Escape')).toEqual(both('Escape'));
  document.removeEventListener('keydown', used);
});

test('a scrubber keeps its arrows and not the keys of a clicker; fields and dialogs keep all', () => {
  document.body.innerHTML =
    '<input type="range"><button></button><input type="text"><p role="dialog"><a href="#"></a></p>';
  const [range, button, field, link] = document.querySelectorAll('input, button, a');
  for (const at of [range!, button!]) {
    expect(press('ArrowRight', at)).toEqual([]);
    expect(press('PageDown', at)).toEqual(both('PageDown'));
  }
  for (const at of [field!, link!])
    for (const key of ['PageDown', 'Escape', 'Home']) expect(press(key, at)).toEqual([]);
});
