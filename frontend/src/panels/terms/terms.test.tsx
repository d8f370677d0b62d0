// @vitest-environment happy-dom
// SPDX-License-Identifier: GPL-2.0-or-later
import { act, cleanup, fireEvent, render, screen } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { testLesson } from '../../../test/fixtures/lesson.ts';
import { Inline } from '../prose.tsx';
import { drawn } from './drawing.tsx';
import { Entry } from './entry.tsx';
import { Terms, TermsProvider } from './terms.tsx';

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
    one: { author: 'A. Person', date: '2023-05-31', subject: 'a mail', url: 'https://a.example/' },
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
  it('has its words with drawings, and who wrote the mail', () => {
    render(<Entry lesson={lesson} />);
    expect(screen.getByTestId('entry').textContent).toContain('1 word, one minute');
    expect(screen.getByRole('img', { name: 'A line.' })).toBeTruthy();
    const mail = screen.getByTestId('entry-mail');
    expect(mail.textContent).toContain('A. Person, 31 May 2023');
    expect(mail.querySelector('a')?.getAttribute('href')).toBe('https://a.example/');
  });

  it('says so where nobody knows an address of the mail', () => {
    const mails = { own: { ...Object.values(lesson.mails)[0]!, url: '' } };
    render(<Entry lesson={{ ...lesson, mails }} />);
    const mail = screen.getByTestId('entry-mail');
    expect(mail.querySelector('a')).toBeNull();
    expect(mail.textContent).toContain('no archive with an address for it');
  });

  it('is not there where a lesson has no terms', () => {
    render(<Entry lesson={testLesson} />);
    expect(screen.queryByTestId('entry')).toBeNull();
  });
});
