// SPDX-License-Identifier: GPL-2.0-or-later
/** The switch between light and dark; the colours stand in base/theme.ts and, alike, in tokens.css. */

import { useSyncExternalStore } from 'react';
import { darkTheme, lightTheme, type Theme } from '../base/theme.ts';

export type ThemeChoice = 'system' | 'light' | 'dark';

const key = 'duet.theme';
const listeners = new Set<() => void>();

function stored(): ThemeChoice {
  const value = read();
  return value === 'light' || value === 'dark' ? value : 'system';
}

/** A page in a frame of a file may be forbidden its store. */
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
    // Forgotten at the next visit; nothing else is lost.
  }
}

function systemIsDark(): boolean {
  return typeof matchMedia === 'function' && matchMedia('(prefers-color-scheme: dark)').matches;
}

let choice: ThemeChoice | null = null;

function current(): Theme {
  choice ??= stored();
  const dark = choice === 'system' ? systemIsDark() : choice === 'dark';
  return dark ? darkTheme : lightTheme;
}

/** Write the theme where the style sheet looks for it. */
export function applyTheme(): void {
  document.documentElement.dataset['theme'] = current().name;
}

/** Choose light, dark, or what the system prefers; kept in this browser. */
export function chooseTheme(next: ThemeChoice): void {
  write(next);
  showTheme(next);
}

/** The same for this page alone, as paper wants it. */
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

/** The theme in force; the same object until it changes. */
export function useTheme(): Theme {
  return useSyncExternalStore(subscribe, current);
}

// Fonts before the first drawing: a canvas draws at once in whatever is there, and not again when its font comes.

const patienceMs = 1000;

/** Resolves when the fonts of text and canvases are loaded, have failed to, or take too long. */
export async function fontsLoaded(
  fonts: Pick<FontFaceSet, 'load'> = document.fonts,
): Promise<void> {
  const wanted = [lightTheme.font, lightTheme.mono, '"Source Serif 4 Variable"'];
  const loads = Promise.allSettled(wanted.map((family) => fonts.load(`16px ${family}`)));
  const late = new Promise((done) => setTimeout(done, patienceMs));
  await Promise.race([loads, late]);
}
