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
  const value = read(key);
  return value === 'light' || value === 'dark' ? value : 'system';
}

/** A browser may deny storage to this page if a local file shows the page in a frame. */
function read(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

/** Without storage, the value is lost when the page is reloaded. The value `null` deletes the stored value. */
function keep(name: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(name);
    else localStorage.setItem(name, value);
  } catch {
    // Nothing is stored.
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
  keep(key, next === 'system' ? null : next);
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

/** Add a style sheet with fonts, and wait for the fonts. */
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

// In a browser's first visit, text and canvases appear in the browser's own fonts, so that the first picture does not
// wait for fonts. Later visits get the fonts from the browser's cache before anything appears.

const fontsKey = 'duet.fonts';
/** Maximum time to wait for a picture before the fonts are loaded, ms. */
const pictureMs = 3000;

let coming: Promise<unknown> = Promise.resolve();

/** Resolves when the page has its fonts, or after a timeout. */
export async function fontsArrived(): Promise<void> {
  await coming;
  await document.fonts?.ready;
}

/**
 * Load the fonts of a page that came from a server. The returned promise resolves when the page may appear.
 *
 * @param href address of the style sheet with the fonts; null if the page's own style sheet has them
 * @param picture resolves when the first picture was drawn; null if the page must have its fonts first
 */
export function pageFonts(href: string | null, picture: Promise<void> | null): Promise<void> {
  if (href === null) return fontsLoaded();
  const load = () => addFonts(href).then(() => keep(fontsKey, href));
  if (picture === null || read(fontsKey) === href) return load();
  const late = new Promise<void>((done) => setTimeout(done, pictureMs));
  coming = Promise.race([picture, late]).then(load).then(redrawThemed);
  return Promise.resolve();
}

/** Address of the style sheet that index.html names (tools/late-fonts.ts); null without one. */
export function namedFonts(): string | null {
  return document.querySelector<HTMLMetaElement>('meta[name=fonts]')?.content ?? null;
}

/** Draw all canvases again, for fonts that came after the first drawing. */
export function redrawThemed(): void {
  themes = { light: { ...lightTheme }, dark: { ...darkTheme } };
  for (const tell of listeners) tell();
}
