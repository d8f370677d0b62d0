// SPDX-License-Identifier: GPL-2.0-or-later
// @vitest-environment happy-dom

import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import decode from 'qr/decode.js';
import { encode } from 'uqr';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { testLesson } from '../../test/fixtures/page.tsx';
import type { Answers } from '../panels/predict.ts';
import { packAnswers } from './answers.ts';
import { qrOf } from './qr.tsx';
import { BroughtDialog, ShareDialog } from './share-dialogs.tsx';

const lesson = testLesson();
const [id = ''] = Object.keys(lesson.predictions);
const answers: Answers = { guesses: { [id]: 1 }, truths: { [id]: 0 }, answered: [0] };
const moment = 'https://host.example/?lesson=02-grace-periods&step=ticks&at=12.5&knobs=hogs:9';
const question = 'https://host.example/?lesson=02-grace-periods&step=ticks&knobs=hogs:9';

/** Makes this the page's address. */
function openedAt(url: string): void {
  (window as unknown as { happyDOM: { setURL: (url: string) => void } }).happyDOM.setURL(url);
}

afterEach(() => {
  cleanup();
  localStorage.clear();
  openedAt('https://host.example/');
});

/** The text of a drawn code, read from its path as a camera reads its modules. */
function scanned({ path, size }: { path: string; size: number }): string {
  const scale = 4;
  const width = size * scale;
  const data = new Uint8ClampedArray(width * width * 4).fill(255);
  for (const [, x, y, length] of path.matchAll(/M(\d+) (\d+)h(\d+)v1h-\d+z/g))
    for (let row = 0; row < scale; row++) {
      const from = (Number(y) * scale + row) * width + Number(x) * scale;
      for (let i = 0; i < Number(length) * scale; i++)
        data.fill(0, 4 * (from + i), 4 * (from + i) + 3);
    }
  return decode({ width, height: width, data });
}

async function shownCode(): Promise<string> {
  const svg = await screen.findByTestId('qr');
  const size = Number(svg.getAttribute('viewBox')?.split(' ')[2]);
  return scanned({ path: svg.querySelector('path')?.getAttribute('d') ?? '', size });
}

describe('the code', () => {
  it('says its text, and has a quiet zone of four modules', () => {
    const qr = qrOf(moment);
    expect(scanned(qr!)).toBe(moment);
    expect(qr?.size).toBe(encode(moment, { ecc: 'M', boostEcc: true, border: 0 }).size + 8);
  });

  it('is none where it could not be scanned', () => {
    expect(qrOf('x'.repeat(997))).not.toBeNull();
    expect(qrOf('x'.repeat(998))).toBeNull();
  });
});

describe('the dialog', () => {
  const shown = (more: Partial<Parameters<typeof ShareDialog>[0]> = {}) => {
    const onClose = vi.fn();
    render(
      <ShareDialog
        {...{ lesson, answers, onClose }}
        address={(asks) => (asks ? question : moment)}
        asks="can"
        slide={false}
        open
        {...more}
      />,
    );
    return onClose;
  };

  it('shows the link as text and as a code, and copies it', async () => {
    const writeText = vi.spyOn(navigator.clipboard, 'writeText').mockResolvedValue();
    shown();
    expect(await shownCode()).toBe(moment);
    expect(screen.getByRole('img', { name: 'QR code of this link' })).toBeDefined();
    expect(screen.getByTestId('share-text').textContent).toBe(moment);
    expect(screen.getByTestId('no-follow').textContent).toContain(
      'no follow mode without a server',
    );
    fireEvent.click(screen.getByTestId('share-copy'));
    expect(writeText).toHaveBeenCalledWith(moment);
    expect((await screen.findByText('link copied')).tagName).toBe('BUTTON');
  });

  it('says so if the browser refuses to copy', async () => {
    vi.spyOn(navigator.clipboard, 'writeText').mockRejectedValue(new Error('no'));
    shown();
    fireEvent.click(await screen.findByTestId('share-copy'));
    expect(await screen.findByText(/The link is selected/)).toBeDefined();
    expect(getSelection()?.toString()).toBe(moment);
  });

  it('can leave out the moment, and does where the question is open', async () => {
    shown({ asks: 'now' });
    expect(await shownCode()).toBe(question);
    fireEvent.click(screen.getByTestId('share-asks'));
    expect(await shownCode()).toBe(moment);
  });

  it('has no such choice at a step without a question', async () => {
    shown({ asks: 'never' });
    await shownCode();
    expect(screen.queryByTestId('share-asks')).toBeNull();
  });

  it('over a slide shows the link alone, and a clicker closes it', async () => {
    const onClose = shown({ slide: true });
    expect(await shownCode()).toBe(moment);
    expect(screen.queryByTestId('share-answers')).toBeNull();
    for (const key of ['a', 'PageDown'])
      fireEvent.keyDown(screen.getByTestId('share-copy'), { key });
    expect(onClose).toHaveBeenCalledTimes(2);
  });

  it('says why a page that was opened as a file has no code', async () => {
    openedAt('file:///lesson/index.html');
    shown();
    expect((await screen.findByTestId('qr-none')).textContent).toBe(
      'This page was opened as a file, so other devices cannot open its link. Put the folder on a web host.',
    );
    expect(screen.queryByTestId('qr')).toBeNull();
  });

  it('warns at an address of this computer alone', async () => {
    openedAt('http://127.0.0.1:8642/');
    shown();
    expect((await screen.findByTestId('only-here')).textContent).toContain('127.0.0.1');
  });

  it('gives the answers as a code with a link to the lesson', async () => {
    shown();
    fireEvent.click(screen.getByTestId('share-answers'));
    expect(await shownCode()).toBe(
      `https://host.example/?lesson=02-grace-periods${packAnswers(lesson, answers, {})}`,
    );
    expect(screen.getByTestId('answers-file').textContent).toBe('save my answers as a file');
  });

  it('has nothing to give where nothing was answered', async () => {
    shown({ answers: { guesses: {}, answered: [] } });
    fireEvent.click(screen.getByTestId('share-answers'));
    expect(await screen.findByTestId('answers-none')).toBeDefined();
  });
});

describe('answers from another device', () => {
  it('are shown beside what is right, and leave those of this browser alone', async () => {
    localStorage.setItem(`duet.${lesson.slug}`, JSON.stringify({ guesses: { [id]: 0 } }));
    const before = { ...localStorage };
    const hash = packAnswers(lesson, answers, {}) ?? '';
    render(<BroughtDialog lesson={lesson} hash={hash} onClose={() => {}} />);
    const brought = await screen.findByTestId('brought');
    const choices = lesson.predictions[id]?.choices ?? [];
    expect(brought.textContent).toContain(
      `${choices[1]}. No, that is not right. The answer is: ${choices[0]}.`,
    );
    expect(brought.textContent).toContain(
      `Questions answered by pointing: 1 of ${lesson.questions.length}`,
    );
    expect({ ...localStorage }).toEqual(before);
  });

  it('are one clear sentence if the link is damaged', async () => {
    render(<BroughtDialog lesson={lesson} hash="#answers=1~02" onClose={() => {}} />);
    expect((await screen.findByRole('alert')).textContent).toContain('scan the code again');
  });
});
