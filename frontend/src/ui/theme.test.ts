// SPDX-License-Identifier: GPL-2.0-or-later
/// <reference types="node" />
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { darkTheme, lightTheme } from '../base/theme.ts';

function variables(block: string): Map<string, string> {
  const found = [...block.matchAll(/--([a-z-]+):\s*(#[0-9a-f]{6});/g)];
  return new Map(found.map((m) => [m[1] ?? '', m[2] ?? '']));
}

function luminance(hex: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((i) => {
    const c = Number.parseInt(hex.slice(i, i + 2), 16) / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a: string, b: string): number {
  const [hi = 1, lo = 0] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (hi + 0.05) / (lo + 0.05);
}

const tokens = readFileSync(new URL('./tokens.css', import.meta.url), 'utf8');
const [lightBlock = '', darkBlock = ''] = tokens.split('data-theme=');

describe.each([
  ['light', lightTheme, variables(lightBlock)],
  ['dark', darkTheme, variables(darkBlock)],
] as const)('the %s theme', (_name, theme, css) => {
  it('says the same in the style sheet and for the canvases', () => {
    for (const [name, value] of Object.entries(theme)) {
      if (value.startsWith('#')) expect([name, css.get(name)]).toEqual([name, value]);
    }
  });

  it('has text of at least 4.5 to 1 on every ground', () => {
    const inks = ['ink', 'soft', 'wait-ink', 'gain-ink', 'mechanism-ink', 'hazard-ink'];
    for (const ink of inks)
      for (const ground of ['paper', 'panel', 'sunk']) {
        const ratio = contrast(css.get(ink) ?? '', css.get(ground) ?? '');
        expect([ink, ground, ratio >= 4.5]).toEqual([ink, ground, true]);
      }
  });

  it('has marks of at least 3 to 1 on paper where the mark carries the meaning', () => {
    for (const mark of ['work', 'wait', 'gain', 'mechanism', 'hazard', 'vain'] as const)
      expect([mark, contrast(theme[mark], theme.paper) >= 3]).toEqual([mark, true]);
  });
});
