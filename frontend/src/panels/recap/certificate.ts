// SPDX-License-Identifier: GPL-2.0-or-later
/** The certificate of progress as a file: JSON for programs, SVG to look at and print. It says what it is. */

import { t } from '../../base/lang/t.ts';
import type { Progress, Share } from './memory.ts';

export const honest = t(
  'Written by a browser from what it had saved. Nobody checked who answered, or how: it proves nothing.',
);

type All = Readonly<Record<string, Progress>>;

export function certificateJson(all: All, on: string): string {
  const lessons = rows(all).map(([slug, one]) => ({
    lesson: slug,
    title: one.title,
    explained: one.explained,
    questions: { right: one.quiz[0], of: one.quiz[1] },
    predictions: { right: one.predicted[0], of: one.predicted[1] },
    pointed_at: { found: one.pointed[0], of: one.pointed[1] },
    on: one.on,
  }));
  const tree = { what: 'Kernel Duet, certificate of progress', note: honest, on, lessons };
  return `${JSON.stringify(tree, null, 2)}\n`;
}

export const columns = [
  t('explained'),
  t('questions'),
  t('predictions'),
  t('pointed at'),
  t('on'),
] as const;

/** The cells of a lesson's row, after its title. */
export function cells(one: Progress): readonly string[] {
  const explained = one.explained ? t('yes') : t('no');
  return [explained, share(one.quiz), share(one.predicted), share(one.pointed), one.on];
}

const share = ([some, all]: Share) => t('{n} of {all}', { n: some, all });

export function rows(all: All): readonly (readonly [string, Progress])[] {
  return Object.entries(all).toSorted(([a], [b]) => (a < b ? -1 : 1));
}

const width = 900;
const at = [340, 450, 560, 680, 790];

export function certificateSvg(all: All, on: string): string {
  const listed = rows(all);
  const height = 240 + 34 * listed.length;
  const text = (x: number, y: number, words: string, looks = '') =>
    `<text x="${x}" y="${y}"${looks}>${escaped(words)}</text>`;
  const row = ([slug, one]: readonly [string, Progress], i: number) => {
    const y = 180 + 34 * i;
    const title = text(50, y, `${/^\d+/.exec(slug)?.[0] ?? ''} ${one.title}`.trim());
    return [title, ...cells(one).map((cell, n) => text(at[n] ?? 0, y, cell))].join('');
  };
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}"`,
    ' font-family="Inter, sans-serif" font-size="15" fill="#1b1d21">',
    `<title>${escaped(t('Kernel Duet, certificate of progress'))}</title>`,
    `<rect width="${width}" height="${height}" fill="#faf8f3"/>`,
    `<rect x="14" y="14" width="${width - 28}" height="${height - 28}" fill="none" stroke="#8a8577"/>`,
    text(50, 72, 'Kernel Duet', ' font-size="30" font-weight="600"'),
    text(50, 100, t('Certificate of progress, {on}', { on })),
    ...columns.map((name, n) => text(at[n] ?? 0, 146, name, ' font-size="13" fill="#575b62"')),
    ...listed.map(row),
    text(50, height - 36, honest, ' font-size="13" fill="#575b62"'),
    '</svg>',
    '',
  ].join('\n');
}

const signs: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

function escaped(words: string): string {
  return words.replaceAll(/[&<>]/g, (sign) => signs[sign] ?? sign);
}
