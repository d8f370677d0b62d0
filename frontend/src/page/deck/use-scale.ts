// SPDX-License-Identifier: GPL-2.0-or-later
/** Slides are laid out on a small sheet and scaled up: the page's smallest text, 13 px, is 20 px at 1920x1080. */

import { type CSSProperties, useEffect, useState } from 'react';

/** The sheet, px: 1920x1080 shows it 1.549 times as large. */
export const sheet = { width: 1240, height: 697 } as const;

/** How much larger than laid out a window shows the sheet; a window that is smaller gets a smaller sheet. */
export function deckScale(width: number, height: number): number {
  return Math.max(1, Math.min(width / sheet.width, height / sheet.height));
}

/** The style of an element that fills the window, laid out at its own size. */
export function sheetStyle(width: number, height: number): CSSProperties {
  const scale = deckScale(width, height);
  return { width: width / scale, height: height / scale, transform: `scale(${scale})` };
}

export function useSheet(): CSSProperties {
  const now = () => sheetStyle(window.innerWidth, window.innerHeight);
  const [style, set] = useState(now);
  useEffect(() => {
    const follow = () => set(now());
    addEventListener('resize', follow);
    return () => removeEventListener('resize', follow);
  });
  return style;
}
