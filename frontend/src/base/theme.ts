// SPDX-License-Identifier: GPL-2.0-or-later
/** Colours for canvases, which must be identical to those in ui/tokens.css. Each colour has one meaning. */

export interface Theme {
  readonly name: 'light' | 'dark';
  readonly paper: string;
  readonly panel: string;
  readonly sunk: string;
  readonly ink: string;
  readonly soft: string;
  readonly faint: string;
  readonly rule: string;
  readonly staff: string;
  readonly work: string;
  readonly wait: string;
  readonly vain: string;
  readonly gain: string;
  readonly mechanism: string;
  readonly hazard: string;
  readonly idle: string;
  readonly other: string;
  readonly font: string;
  readonly mono: string;
}

const fonts = {
  font: '"Inter Variable", system-ui, sans-serif',
  mono: '"JetBrains Mono Variable", ui-monospace, monospace',
};

export const lightTheme: Theme = {
  name: 'light',
  paper: '#faf8f3',
  panel: '#fffefb',
  sunk: '#f2eee5',
  ink: '#1b1d21',
  soft: '#575b62',
  faint: '#686b71',
  rule: '#e2dccf',
  staff: '#d9d3c5',
  work: '#3b4a5a',
  wait: '#d55e00',
  vain: '#8a8577',
  gain: '#00825f',
  mechanism: '#7b5ea7',
  hazard: '#b00040',
  idle: '#cfc8b8',
  other: '#b3a98f',
  ...fonts,
};

export const darkTheme: Theme = {
  name: 'dark',
  paper: '#101317',
  panel: '#171b21',
  sunk: '#0b0e11',
  ink: '#e9e6df',
  soft: '#a3aab1',
  faint: '#878e96',
  rule: '#2a3038',
  staff: '#2c333c',
  work: '#a9b8c6',
  wait: '#ff9a4d',
  vain: '#78808a',
  gain: '#4fd1a5',
  mechanism: '#b79be0',
  hazard: '#ff6b92',
  idle: '#3a424c',
  other: '#6d6a5c',
  ...fonts,
};
