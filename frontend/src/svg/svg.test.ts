// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Tests the pen that writes shapes, and the conversion of text. Complete pictures are compared in
 * tests/backend/export/test_vector.py.
 */

import { describe, expect, test } from 'vitest';
import { drawnBy } from '../views/paints.ts';
import { cut, type Glyph, linesOf } from './page.ts';
import { SvgPen } from './pen.ts';
import { colourOf, escaped, families, fontLook, ink, Sheet, textElement } from './xml.ts';

function started(dpr = 1) {
  const sheet = new Sheet('p', {
    measure: (_font, baseline, text) => ({
      width: text.length * 7,
      drop: baseline === 'middle' ? 4 : 0,
      ascent: 10,
    }),
    pixels: () => 'data:image/png;base64,AAAA',
  });
  return { sheet, pen: new SvgPen(sheet, dpr) };
}

describe('xml', () => {
  test('names from outside cannot become markup', () => {
    expect(escaped('</text><script>"&\u0000\ud800')).toBe(
      '&lt;/text&gt;&lt;script&gt;&quot;&amp;\ufffd\ufffd',
    );
    expect(textElement('<b> & x', { x: 1, y: 2, width: 9 })).toContain('>&lt;b&gt; &amp; x<');
  });

  test('a colour with alpha is taken apart', () => {
    expect(colourOf('rgba(255, 0, 16, 0.25)')).toEqual({ colour: '#ff0010', opacity: 0.25 });
    expect(colourOf('rgb(0 0 0 / 14%)')).toEqual({ colour: '#000000', opacity: 0.14 });
    expect(colourOf('color(srgb 1 0.5 0 / 0.1)')).toEqual({ colour: '#ff8000', opacity: 0.1 });
    expect(colourOf('transparent').opacity).toBe(0);
    expect(ink('fill', '#123456', 0.5)).toEqual({ fill: '#123456', 'fill-opacity': '0.5' });
  });

  test('a font is named with those that may stand in', () => {
    expect(families('"Inter Variable", system-ui, sans-serif')).toBe(
      "'Inter Variable', Inter, system-ui, sans-serif",
    );
    expect(fontLook('650 16px "Inter Variable", x')).toMatchObject({
      'font-size': '16',
      'font-weight': '650',
    });
    expect(() => fontLook('large serif')).toThrow('no font');
  });
});

describe('pen', () => {
  test('shapes of one look share a group, and stay shapes of their own', () => {
    const { pen } = started();
    pen.fillStyle = '#ff0000';
    pen.fillRect(0, 0, 3, 4);
    pen.fillRect(5, 0, 3, 4);
    pen.fillStyle = '#00ff00';
    pen.fillRect(9, 0, -2, 4);
    expect(pen.finish().split('\n')).toEqual([
      '<g fill="#ff0000">',
      '<rect x="0" y="0" width="3" height="4"/>',
      '<rect x="5" y="0" width="3" height="4"/>',
      '</g>',
      '<rect fill="#00ff00" x="7" y="0" width="2" height="4"/>',
    ]);
  });

  test('a fill and the stroke that follows are one shape; another path is another', () => {
    const { pen } = started();
    pen.beginPath();
    pen.roundRect(0.5, 0.5, 10, 4, 8);
    pen.fillStyle = '#eeeeee';
    pen.fill();
    pen.strokeStyle = '#111111';
    pen.setLineDash([3, 2]);
    pen.stroke();
    pen.beginPath();
    pen.moveTo(0, 0);
    pen.lineTo(4, 4);
    pen.lineTo(Number.NaN, 4);
    pen.stroke();
    expect(pen.finish().split('\n')).toEqual([
      '<rect fill="#eeeeee" stroke="#111111" stroke-dasharray="3 2" x="0.5" y="0.5" width="10" height="4" rx="2"/>',
      '<path fill="none" stroke="#111111" stroke-dasharray="3 2" d="M0 0L4 4"/>',
    ]);
  });

  test('a clip holds until restore, and what was set goes with it', () => {
    const { pen, sheet } = started();
    pen.save();
    pen.beginPath();
    pen.rect(0, 0, 5, 5);
    pen.clip();
    pen.globalAlpha = 0.5;
    pen.fillRect(0, 0, 9, 9);
    pen.restore();
    pen.fillRect(1, 1, 1, 1);
    const drawn = pen.finish();
    expect(drawn).toMatch(
      /^<g clip-path="url\(#p-1\)">\n<rect .*fill-opacity="0.5".*\n<\/g>\n<rect/,
    );
    expect(drawn.split('\n').at(-1)).not.toContain('opacity');
    expect(sheet.defs()).toContain(
      '<clipPath id="p-1"><rect x="0" y="0" width="5" height="5"/></clipPath>',
    );
  });

  test('text is text, at its alphabetic baseline, as wide as it was', () => {
    const { pen } = started();
    pen.font = '600 13px "Inter Variable", sans-serif';
    pen.textBaseline = 'middle';
    pen.textAlign = 'center';
    pen.fillText('a<b', 10, 20);
    expect(pen.finish()).toBe(
      `<text fill="#000000" font-family="'Inter Variable', Inter, sans-serif" font-size="13" font-weight="600" text-anchor="middle" x="10" y="24" textLength="21" lengthAdjust="spacingAndGlyphs">a&lt;b</text>`,
    );
  });

  test('a matrix counts in CSS px, whatever the display has', () => {
    const { pen } = started(2);
    pen.setTransform(0, -2, 2, 0, 20, 40);
    pen.fillRect(0, 0, 1, 1);
    expect(pen.finish()).toContain('transform="matrix(0 -1 1 0 10 20)"');
  });

  test('patterns and stamps are drawn anew, once each', () => {
    const { pen, sheet } = started();
    const by = (to: { fillRect: SvgPen['fillRect'] }) => to.fillRect(0, 0, 2, 2);
    const pattern = drawnBy({} as CanvasPattern, { width: 4, height: 4, by });
    pen.fillStyle = pattern;
    pen.fillRect(0, 0, 9, 9);
    pen.fillRect(9, 0, 9, 9);
    const image = { width: 20, height: 10 } as OffscreenCanvas;
    const stamp = drawnBy(image, { width: 10, height: 5, by });
    pen.globalAlpha = 0.2;
    pen.drawImage(stamp, 4, 0, 16, 10, 2, 0, 8, 5);
    pen.drawImage(stamp, 4, 0, 16, 10, 2, 0, 8, 5);
    const drawn = pen.finish();
    expect(drawn.match(/url\(#p-1\)/g)).toHaveLength(1);
    expect(drawn.match(/<use xlink:href="#p-2" opacity="0.2"\/>/g)).toHaveLength(2);
    expect(sheet.defs().match(/<pattern/g)).toHaveLength(1);
    expect(sheet.defs().match(/<g id="p-2">/g)).toHaveLength(1);
  });

  test('an image that nothing drew stays one, unsmoothed', () => {
    const { pen } = started();
    pen.drawImage({ width: 4, height: 4 } as OffscreenCanvas, 1, 2, 8, 8);
    expect(pen.finish()).toMatch(
      /<image x="1" y="2" width="8" height="8".* image-rendering="pixelated" xlink:href="data:image\/png/,
    );
  });

  test('what has no counterpart is an error, not a wrong picture', () => {
    const { pen } = started();
    pen.clearRect();
    pen.fillRect(0, 0, 1, 1);
    expect(() => pen.clearRect()).toThrow('wiped');
    expect(() => pen.arc(0, 0, 2, 0, 3)).toThrow('full circles');
    expect(() => {
      pen.fillStyle = {} as CanvasPattern;
      pen.fillRect(0, 0, 1, 1);
    }).toThrow('pattern');
  });
});

describe('lines', () => {
  const glyphs = (text: string, top = 0): Glyph[] =>
    [...text].map((c, i) => ({ text: c, left: i * 10, right: i * 10 + 10, top }));

  test('a text node is cut where the browser broke it, without the spaces at the ends', () => {
    expect(linesOf([...glyphs(' ab '), ...glyphs('c', 20), ...glyphs(' ', 40)])).toEqual([
      { text: 'ab', left: 10, right: 30, top: 0 },
      { text: 'c', left: 0, right: 10, top: 20 },
    ]);
  });

  test('an ellipsis ends within its box', () => {
    expect(cut(glyphs('abc'), 30, 8)).toHaveLength(3);
    const short = cut(glyphs('abcdef'), 40, 8);
    expect(short.map((glyph) => glyph.text).join('')).toBe('abc…');
    expect(short.at(-1)!.right).toBeLessThanOrEqual(40);
  });
});
