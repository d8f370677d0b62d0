// @vitest-environment happy-dom
// SPDX-License-Identifier: GPL-2.0-or-later
import { cleanup, fireEvent } from '@testing-library/react';
import { afterEach, describe, expect, it } from 'vitest';
import { actOf, keyList } from './keyboard.ts';

afterEach(() => {
  cleanup();
  localStorage.clear();
});

describe('the keyboard', () => {
  const keys = keyList('umount');
  const press = (key: string, on: HTMLElement = document.body, more = {}) => {
    let act: ReturnType<typeof actOf> = null;
    const listen = (event: KeyboardEvent) => {
      act = actOf(event, keys);
    };
    document.addEventListener('keydown', listen);
    fireEvent.keyDown(on, { key, ...more });
    document.removeEventListener('keydown', listen);
    return act;
  };

  it('plays, steps, jumps and helps', () => {
    expect(
      [' ', 'ArrowRight', 'PageDown', 'PageUp', 'n', 'd', 'p', '?', 'w', 'Escape'].map((k) =>
        press(k),
      ),
    ).toEqual([
      'toggle',
      'beat-on',
      'step-on',
      'step-back',
      'long-wait',
      'divergence',
      'present',
      'help',
      'words',
      'deselect',
    ]);
    expect(press('ArrowLeft', document.body, { shiftKey: true })).toBe('event-back');
  });

  it('leaves fields, buttons and shortcuts of the browser alone', () => {
    document.body.innerHTML = '<input id="a"><button id="b" type="button"></button>';
    const at = (id: string) => document.getElementById(id) as HTMLElement;
    expect(press('p', at('a'))).toBeNull();
    expect(press(' ', at('b'))).toBeNull();
    expect(press('p', at('b'))).toBe('present');
    expect(press('p', document.body, { ctrlKey: true })).toBeNull();
    document.body.innerHTML = '';
  });

  it('every act has one row in the help, and no key means two things', () => {
    const all = keys.flatMap((k) => k.keys);
    expect(new Set(all).size).toBe(all.length);
    expect(new Set(keys.map((k) => k.act)).size).toBe(keys.length);
  });
});
