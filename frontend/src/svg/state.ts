// SPDX-License-Identifier: GPL-2.0-or-later
/** What a pen is set to: what save() keeps and restore() brings back. */

import { type Attributes, num } from './xml.ts';

export type Matrix = readonly [number, number, number, number, number, number];
export type Style = string | CanvasGradient | CanvasPattern;

export interface State {
  globalAlpha: number;
  fillStyle: Style;
  strokeStyle: Style;
  lineWidth: number;
  lineCap: CanvasLineCap;
  font: string;
  textAlign: CanvasTextAlign;
  textBaseline: CanvasTextBaseline;
  dash: readonly number[];
  matrix: Matrix;
}

export function stateOf(pen: State): State {
  const { globalAlpha, fillStyle, strokeStyle, lineWidth, lineCap } = pen;
  const { font, textAlign, textBaseline, dash, matrix } = pen;
  const line = { globalAlpha, fillStyle, strokeStyle, lineWidth, lineCap, dash };
  return { ...line, font, textAlign, textBaseline, matrix };
}

/** What is left out is SVG's own default. */
export function lineLook({ lineWidth, lineCap, dash }: State): Attributes {
  return {
    'stroke-width': lineWidth === 1 ? null : lineWidth,
    'stroke-linecap': lineCap === 'butt' ? null : lineCap,
    'stroke-dasharray': dash.length === 0 ? null : dash.map(num).join(' '),
  };
}

/** Null: nothing is moved. */
export function matrixWords(matrix: Matrix): string | null {
  const words = matrix.map((n) => String(Math.round(n * 1e5) / 1e5 + 0)).join(' ');
  return words === '1 0 0 1 0 0' ? null : `matrix(${words})`;
}

export const anchors: Readonly<Record<CanvasTextAlign, string | null>> = {
  left: null,
  start: null,
  center: 'middle',
  right: 'end',
  end: 'end',
};
