// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Converts the page to a single SVG for `duet export --to svg`. The page itself never loads this script. The exporter
 * opens the page in a browser and runs the script there (backend: export/pictures.py).
 */

import { elementOf } from './page.ts';
import { attributes, escaped, ink, Sheet, type Tools } from './xml.ts';

export interface Words {
  readonly title: string;
  readonly desc: string;
  /** Prefix of all ids in the SVG. */
  readonly id: string;
}

function browserTools(): Tools {
  const pen = document.createElement('canvas').getContext('2d');
  if (pen === null) throw new Error('this browser has no canvas');
  return {
    measure: (font, baseline, text) => {
      pen.font = font;
      pen.textBaseline = baseline;
      const { width, alphabeticBaseline, fontBoundingBoxAscent } = pen.measureText(text);
      const ascent = Math.round(fontBoundingBoxAscent + alphabeticBaseline);
      return { width, drop: -alphabeticBaseline, ascent };
    },
    pixels: (image, { x, y, w, h }) => {
      const copy = document.createElement('canvas');
      [copy.width, copy.height] = [w, h];
      copy.getContext('2d')?.drawImage(image, x, y, w, h, 0, 0, w, h);
      return copy.toDataURL('image/png');
    },
  };
}

export function picture({ title, desc, id }: Words): string {
  const sheet = new Sheet(id, browserTools());
  const body = elementOf(document.body, sheet).join('\n');
  const { innerWidth: width, innerHeight: height } = window;
  const size = { width, height, viewBox: `0 0 ${width} ${height}`, role: 'img' };
  const named = { 'aria-labelledby': `${id}-title ${id}-desc`, 'stroke-miterlimit': 10 };
  const spaces = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"';
  const ground = ink('fill', getComputedStyle(document.documentElement).backgroundColor);
  return `<?xml version="1.0" encoding="UTF-8"?>
<svg ${spaces}${attributes({ ...size, ...named })}>
<title id="${escaped(id)}-title">${escaped(title)}</title>
<desc id="${escaped(id)}-desc">${escaped(desc)}</desc>
${sheet.defs()}<rect${attributes({ width, height, ...ground })}/>
${body}
</svg>
`;
}
