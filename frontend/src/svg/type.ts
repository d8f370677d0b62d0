// SPDX-License-Identifier: GPL-2.0-or-later
/** Text that stays text: font names with those that may stand in, and the room that it took on the page. */

import { type Attributes, attributes, escaped } from './xml.ts';

export interface Measured {
  readonly width: number;
  /** From where the text was placed down to its alphabetic baseline. */
  readonly drop: number;
  /** From that baseline up to the top of the line's box. */
  readonly ascent: number;
}

/** Measures as the page's own canvases do. */
export type Measure = (font: string, baseline: CanvasTextBaseline, text: string) => Measured;

const font = /^(italic )?(?:(normal|bold|\d+) )?([\d.]+)px(?:\/\S+)? (.+)$/;

/** "Inter Variable" is the page's own face; who has Inter installed has it under its plain name. */
export function families(css: string): string {
  const names = css.split(',').flatMap((part) => {
    const name = part.trim().replaceAll('"', '');
    return name.endsWith(' Variable') ? [name, name.replace(/ Variable$/, '')] : [name];
  });
  return names.map((name) => (/^[\w-]+$/.test(name) ? name : `'${name}'`)).join(', ');
}

/** A canvas font as attributes. */
export function fontLook(css: string): Attributes {
  const found = font.exec(css);
  if (found === null) throw new Error(`no font that can be written as SVG: ${css}`);
  const [, italic, weight, size, family] = found;
  return {
    'font-family': families(family!),
    'font-size': size!,
    'font-weight': weight === undefined || weight === '400' ? null : weight,
    'font-style': italic === undefined ? null : 'italic',
  };
}

/** A <text> that takes `width` in any font: its neighbours stay where they were. */
export function textElement(
  text: string,
  at: { readonly x: number; readonly y: number; readonly width: number },
  look = '',
): string {
  const words = text.replace(/\s/g, ' ');
  const spaced = /^ | {2}| $/.test(words);
  const fitted = [...words].length > 1;
  const given = attributes({
    x: at.x,
    y: at.y,
    textLength: fitted ? at.width : null,
    lengthAdjust: fitted ? 'spacingAndGlyphs' : null,
    'xml:space': spaced ? 'preserve' : null,
  });
  return `<text${look}${given}>${escaped(words)}</text>`;
}
