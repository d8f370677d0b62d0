// SPDX-License-Identifier: GPL-2.0-or-later
// @vitest-environment happy-dom

import { act, cleanup, fireEvent, render, screen } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { testLesson } from '../../../test/fixtures/lesson.ts';
import type { Term } from '../../protocol/lesson.ts';
import { Entry } from '../discussion.tsx';
import { Inline } from '../prose.tsx';
import {
  drawn,
  type MarkdownNode,
  markTerms,
  matcherOf,
  spotOf,
  Terms,
  TermsProvider,
  withPageTerms,
} from './terms.tsx';

describe('terms', () => {
  // SPDX-License-Identifier: GPL-2.0-or-later

  const svg =
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 240 120"><title>A line.</title><line x1="0" stroke-width="2"/></svg>';
  const lesson = {
    ...testLesson,
    terms: [
      {
        ...{ name: 'grace period', also: ['grace periods'], says: 'A time.', drawing: 'a.svg' },
        ...{ entry: true, shared: false },
      },
      { name: 'hog', also: ['hogs'], says: 'A task.', drawing: '', entry: false, shared: false },
    ],
    drawings: { 'grace period': svg },
    mails: {
      one: {
        author: 'A. Person',
        date: '2023-05-31',
        subject: 'a mail',
        url: 'https://a.example/',
      },
    },
  };

  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => {
    cleanup();
    vi.useRealTimers();
  });

  function shown(text = 'Nine hogs wait for a grace period; a hog waits.') {
    render(
      <TermsProvider lesson={lesson}>
        <p>
          <Terms text={text} />
        </p>
      </TermsProvider>,
    );
    return screen.getAllByTestId('term');
  }

  const card = () => screen.queryByTestId('term-card');
  const point = (word: Element, type: string) =>
    act(() => {
      fireEvent(word, new PointerEvent(type, { bubbles: true, pointerType: 'mouse' }));
      vi.advanceTimersByTime(300);
    });

  describe('a term in a text', () => {
    it('is marked once in a paragraph, and says to screen readers what it is', () => {
      const words = shown();
      expect(words.map((word) => word.textContent)).toEqual(['hogs', 'grace period']);
      const said = document.getElementById(words[1]!.getAttribute('aria-describedby')!);
      expect(said?.textContent).toContain('A time.');
    });

    it('opens on a click, with its drawing, and closes on the next', () => {
      const [, word] = shown();
      fireEvent.click(word!);
      expect(card()?.textContent).toContain('A time.');
      expect(card()?.querySelector('svg')?.getAttribute('aria-label')).toBe('A line.');
      fireEvent.click(word!);
      expect(card()).toBeNull();
    });

    it('opens while the mouse is over it or its card', () => {
      const [word] = shown();
      point(word!, 'pointerover');
      expect(card()?.textContent).toContain('A task.');
      point(word!, 'pointerout');
      expect(card()).toBeNull();
    });

    it('Esc closes the card, and nobody behind it gets the key', () => {
      const [word] = shown();
      const behind = vi.fn();
      document.addEventListener('keydown', behind);
      fireEvent.click(word!);
      fireEvent.keyDown(word!, { key: 'Escape' });
      expect(card()).toBeNull();
      expect(behind).not.toHaveBeenCalled();
      fireEvent.keyDown(word!, { key: 'Escape' });
      expect(behind).toHaveBeenCalledOnce();
      document.removeEventListener('keydown', behind);
    });

    it('a press elsewhere closes it', () => {
      const [word] = shown();
      fireEvent.click(word!);
      fireEvent.pointerDown(document.body);
      expect(card()).toBeNull();
    });

    it('is a plain word outside a lesson, and in Markdown marked as well', () => {
      const { unmount } = render(<Inline text="a *hog*" />);
      expect(screen.queryByTestId('term')).toBeNull();
      unmount();
      render(
        <TermsProvider lesson={lesson}>
          <Inline text="a *hog*, `hog`" />
        </TermsProvider>,
      );
      expect(screen.getAllByTestId('term')).toHaveLength(1);
    });
  });

  describe('a drawing', () => {
    it('takes over shapes and words alone', () => {
      const bad = svg.replace(
        '</svg>',
        '<script>1</script><image href="x"/><g onclick="x()" style="a" class="b"><a href="x"/><rect fill="url(#a)" width="3"/></g></svg>',
      );
      const { container } = render(<svg aria-hidden="true">{drawn(bad)!.parts}</svg>);
      expect(container.innerHTML).toBe(
        '<svg aria-hidden="true"><line x1="0" stroke-width="2"></line><g><rect width="3"></rect></g></svg>',
      );
    });

    it('a text that is none is not drawn', () => expect(drawn('<p>no</p>')).toBeNull());
  });

  describe('the entry of a lesson', () => {
    it('has its words, which open and close their drawings, and who wrote the mail', () => {
      render(<Entry lesson={lesson} />);
      const entry = screen.getByTestId('entry');
      expect(entry.textContent).toContain('1 word, one minute');
      const word = entry.querySelector('button')!;
      expect(screen.queryByRole('img', { name: 'A line.' })).toBeNull();
      fireEvent.click(word);
      expect(word.getAttribute('aria-expanded')).toBe('true');
      expect(screen.getByRole('img', { name: 'A line.' })).toBeTruthy();
      fireEvent.click(word);
      expect(screen.queryByRole('img', { name: 'A line.' })).toBeNull();
      const mail = screen.getByTestId('entry-mail');
      expect(mail.textContent).toContain('A. Person, 31 May 2023');
      expect(mail.querySelector('a')?.getAttribute('href')).toBe('https://a.example/');
    });

    it('says so where nobody knows an address of the mail', () => {
      const mails = { own: { ...Object.values(lesson.mails)[0]!, url: '' } };
      render(<Entry lesson={{ ...lesson, mails }} />);
      const mail = screen.getByTestId('entry-mail');
      expect(mail.querySelector('a')).toBeNull();
      expect(mail.textContent).toContain('we know of no archive that contains this mail');
    });

    it('is not there where a lesson has no terms', () => {
      render(<Entry lesson={testLesson} />);
      expect(screen.queryByTestId('entry')).toBeNull();
    });
  });
});

describe('matcher', () => {
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
      expect(pieces.map((p) => (typeof p === 'string' ? p : p.text)).join('')).toBe(
        'a tick, RCU b',
      );
    });

    it('a lesson without terms has none', () => expect(matcherOf([])).toBeNull());
  });

  describe('terms in Markdown', () => {
    const text = (value: string): MarkdownNode => ({ type: 'text', value });
    const element = (tagName: string, ...children: MarkdownNode[]): MarkdownNode => ({
      ...{ type: 'element', tagName, children },
    });
    const words = (node: MarkdownNode): string => {
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
      [
        'below the word',
        { left: 100, top: 100, bottom: 120 },
        { left: 100, top: 127, height: 200 },
      ],
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
});

describe('page terms', () => {
  const term = (name: string, ...also: string[]) => ({
    ...{ name, also, says: 'Its own.', drawing: '', entry: false, shared: false },
  });

  it('every lesson has the words of the page', () => {
    const names = withPageTerms([term('hog')]).map(({ name }) => name);
    expect(names).toEqual(['hog', 'arm', 'lane', 'count clock', 'wall clock']);
  });

  it("a lesson's own term goes before, also by another form", () => {
    const names = withPageTerms([term('strip', 'lanes')]).map(({ name }) => name);
    expect(names).toEqual(['strip', 'arm', 'count clock', 'wall clock']);
  });
});
