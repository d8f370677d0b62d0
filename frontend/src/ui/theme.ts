// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Switches between light and dark. Colours are defined twice, in base/theme.ts and in tokens.css, with identical
 * values.
 */

import { useSyncExternalStore } from 'react';
import { darkTheme, lightTheme, type Theme } from '../base/theme.ts';

export type ThemeChoice = 'system' | 'light' | 'dark';

const key = 'duet.theme';
const listeners = new Set<() => void>();

function stored(): ThemeChoice {
  const value = read();
  return value === 'light' || value === 'dark' ? value : 'system';
}

/** Browsers may deny storage to a page in a frame of a file. */
function read(): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

function write(next: ThemeChoice): void {
  try {
    if (next === 'system') localStorage.removeItem(key);
    else localStorage.setItem(key, next);
  } catch {
    // Without storage, the choice is lost when the page is reloaded.
  }
}

function systemIsDark(): boolean {
  return typeof matchMedia === 'function' && matchMedia('(prefers-color-scheme: dark)').matches;
}

let choice: ThemeChoice | null = null;
let themes = { light: lightTheme, dark: darkTheme };

function current(): Theme {
  choice ??= stored();
  const dark = choice === 'system' ? systemIsDark() : choice === 'dark';
  return dark ? themes.dark : themes.light;
}

/** Set the attribute that tells the style sheet the current theme. */
export function applyTheme(): void {
  document.documentElement.dataset['theme'] = current().name;
}

/** Choose light, dark, or the system's preference. The choice is stored in this browser. */
export function chooseTheme(next: ThemeChoice): void {
  write(next);
  showTheme(next);
}

/** Set the theme of this page without storing it, for example for print. */
export function showTheme(next: ThemeChoice): void {
  choice = next;
  applyTheme();
  for (const tell of listeners) tell();
}

function subscribe(tell: () => void): () => void {
  listeners.add(tell);
  const query =
    typeof matchMedia === 'function' ? matchMedia('(prefers-color-scheme: dark)') : null;
  const follow = () => {
    applyTheme();
    tell();
  };
  query?.addEventListener('change', follow);
  return () => {
    listeners.delete(tell);
    query?.removeEventListener('change', follow);
  };
}

/** The current theme. It is the same object until the theme changes. */
export function useTheme(): Theme {
  return useSyncExternalStore(subscribe, current);
}

// Loads fonts. A canvas uses the font that is loaded when it is drawn.

const patienceMs = 1000;

/** Resolves when the fonts for text and canvases have loaded or failed, or after a timeout. */
export async function fontsLoaded(
  fonts: Pick<FontFaceSet, 'load'> = document.fonts,
): Promise<void> {
  const wanted = [lightTheme.font, lightTheme.mono, '"Source Serif 4 Variable"'];
  const loads = Promise.allSettled(wanted.map((family) => fonts.load(`16px ${family}`)));
  const late = new Promise((done) => setTimeout(done, patienceMs));
  await Promise.race([loads, late]);
}

/** Add the style sheet with a site's fonts, and wait for the fonts. */
export async function addFonts(href: string): Promise<void> {
  const sheet = document.createElement('link');
  sheet.rel = 'stylesheet';
  sheet.href = href;
  await new Promise((done) => {
    sheet.onload = sheet.onerror = done;
    document.head.append(sheet);
  });
  await fontsLoaded();
}

/** Draw all canvases again, for fonts that came after the first drawing. */
export function redrawThemed(): void {
  themes = { light: { ...lightTheme }, dark: { ...darkTheme } };
  for (const tell of listeners) tell();
}
