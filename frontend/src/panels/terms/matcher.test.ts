// SPDX-License-Identifier: GPL-2.0-or-later
import { describe, expect, it } from 'vitest';
import type { Term } from '../../protocol/lesson.ts';
import { matcherOf } from './matcher.ts';
import { markTerms, type Node } from './rehype.ts';
import { spotOf } from './spot.ts';

const term = (name: string, ...also: string[]): Term => ({
  ...{ name, also, says: `What ${name} is.`, drawing: '', entry: true, shared: false },
});
const terms = [term('grace period', 'grace periods'), term('RCU'), term('tick', 'ticks')];
const matcher = matcherOf(terms)!;
const found = (text: string) =>
  matcher
    .split(text, new Set())
    .flatMap((piece) => (typeof piece === 'string' ? [] : [piece.text]));

describe('terms in a text', () => {
  it.each([
    ['An RCU grace period ends at a tick.', ['RCU', 'grace period', 'tick']],
    ['Grace\nperiods: SRCU, rcu, sticks, tick_do, tick-less', ['Grace\nperiods']],
    ['Ticks, and another tick', ['Ticks']],
    ['', []],
  ])('%j', (text, words) => expect(found(text)).toEqual(words));

  it('leaves no letter out', () => {
    const pieces = matcher.split('a tick, RCU b', new Set());
    expect(pieces.map((p) => (typeof p === 'string' ? p : p.text)).join('')).toBe('a tick, RCU b');
  });

  it('a lesson without terms has none', () => expect(matcherOf([])).toBeNull());
});

describe('terms in Markdown', () => {
  const text = (value: string): Node => ({ type: 'text', value });
  const element = (tagName: string, ...children: Node[]): Node => ({
    ...{ type: 'element', tagName, children },
  });
  const words = (node: Node): string => {
    const inner = (node.children ?? []).map(words).join('');
    return node.tagName === 'dfn' ? `[${inner}]` : (node.value ?? inner);
  };

  it('marks the first of each paragraph, and nothing in code and links', () => {
    const tree = element(
      'root',
      element('h2', text('RCU')),
      element('p', text('a tick, '), element('strong', text('a tick, RCU'))),
      element('p', element('code', text('tick')), element('a', text('tick')), text(' tick')),
    );
    markTerms(matcher)()(tree);
    expect(tree.children?.map(words)).toEqual([
      'RCU',
      'a [tick], a tick, [RCU]',
      'ticktick [tick]',
    ]);
  });
});

describe('where a card stands', () => {
  const view = { width: 800, height: 600 };
  const card = { width: 290, height: 200 };
  it.each([
    ['below the word', { left: 100, top: 100, bottom: 120 }, { left: 100, top: 127, height: 200 }],
    ['above it', { left: 100, top: 500, bottom: 520 }, { left: 100, top: 293, height: 200 }],
    ['inside the window', { left: 700, top: 9, bottom: 29 }, { left: 502, top: 36, height: 200 }],
    ['shorter', { left: 1, top: 300, bottom: 420 }, { left: 8, top: 93, height: 200 }],
  ])('%s', (_where, word, spot) => expect(spotOf(word, card, view)).toEqual(spot));

  it('never over the word, however small the window', () => {
    for (let top = 0; top < 200; top += 7) {
      const word = { left: 10, top, bottom: top + 18 };
      const spot = spotOf(word, card, { width: 320, height: 220 });
      expect(spot.top >= word.bottom || spot.top + spot.height <= word.top, `${top}`).toBe(true);
    }
  });
});
