// @vitest-environment happy-dom
// SPDX-License-Identifier: GPL-2.0-or-later
import { describe, expect, it } from 'vitest';
import { deckAct, moved, readMessage } from './use-deck.ts';

const none = { ctrlKey: false, metaKey: false, altKey: false, shiftKey: false };
const press = (key: string, target: EventTarget = document.body, held = {}) =>
  deckAct({ key, ...none, ...held, target });

describe('a deck', () => {
  it('is moved by clickers, arrows, Home and End', () => {
    expect(['PageDown', 'ArrowRight', 'ArrowDown'].map((key) => press(key))).toEqual(
      Array(3).fill('next'),
    );
    expect(['PageUp', 'ArrowLeft', 'ArrowUp'].map((key) => press(key))).toEqual(
      Array(3).fill('back'),
    );
    expect([press('Home'), press('End'), press('s'), press('h')]).toEqual([
      'first',
      'last',
      'notes',
      'handout',
    ]);
  });

  it('leaves keys of fields, dialogs and the browser alone', () => {
    const field = document.createElement('input');
    expect(press('ArrowRight', field)).toBeNull();
    expect(press('ArrowRight', document.body, { altKey: true })).toBeNull();
    expect(press('ArrowRight', document.body, { shiftKey: true })).toBeNull();
    expect(press('x')).toBeNull();
  });

  it('goes on from a toy by the clicker alone: its own keys move what is played with', () => {
    document.body.innerHTML =
      '<div class="toy"><button id="tile"></button><input type="checkbox" id="box"></div>';
    const inside = (key: string, id: string) => press(key, document.getElementById(id)!);
    expect(press('y')).toBe('toy');
    for (const id of ['tile', 'box']) {
      expect([inside('PageDown', id), inside('PageUp', id)]).toEqual(['next', 'back']);
      for (const key of ['ArrowRight', 'ArrowUp', 'Home', 'End', 's', 'h', 'd'])
        expect(inside(key, id), `${id} ${key}`).toBeNull();
    }
  });

  it('goes to every stop once, and stays at both ends', () => {
    const seen = [0];
    for (let i = 0; i < 9; i++) seen.push(moved(seen.at(-1) ?? 0, 'next', 4));
    expect(seen).toEqual([0, 1, 2, 3, 3, 3, 3, 3, 3, 3]);
    expect(moved(0, 'back', 4)).toBe(0);
    expect([moved(2, 'first', 4), moved(2, 'last', 4), moved(2, 'notes', 4)]).toEqual([0, 3, 2]);
    expect(moved(0, 'next', 0)).toBe(0);
  });
});

describe('the channel to the speaker', () => {
  it('takes what it knows and nothing else', () => {
    const at = { kind: 'at', step: 'a', press: 2, sentence: '', answer: '', since: 1 };
    expect(readMessage(at)).toEqual(at);
    expect(readMessage({ kind: 'move', act: 'next' })).toEqual({ kind: 'move', act: 'next' });
    expect(readMessage({ kind: 'hello', more: 1 })).toEqual({ kind: 'hello' });
    for (const bad of [null, 1, {}, { kind: 'move', act: 'jump' }, { ...at, press: '2' }])
      expect(readMessage(bad)).toBeNull();
  });
});
