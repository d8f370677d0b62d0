// SPDX-License-Identifier: GPL-2.0-or-later
/** Cards of a slide, as large as they all fit, and never smaller than the page's smallest text. */

import { Children, type ReactNode, useLayoutEffect, useRef } from 'react';
import type { Limits } from './pack.ts';
import { layOut, standing } from './place-cards.ts';

const gap = 32;
const largest = 1.9;

interface Props {
  readonly children: ReactNode;
  readonly columns: readonly number[];
  /** The smallest scale; what does not fit is left out, and a line says so. */
  readonly least: number;
  /** The last card only fills the slide: it goes before anything else does. */
  readonly filler: boolean;
}

export function Cards({ children, columns, least, filler }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const sheet = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const [outer, inner] = [box.current, sheet.current];
    if (outer === null || inner === null) return undefined;
    const limits: Limits = { least, most: largest, columns, gap };
    let before = '';
    const fill = () => {
      layOut(outer, inner, limits);
      before = standing(inner);
    };
    const observer = new ResizeObserver(fill);
    observer.observe(outer);
    // A chart that comes later, or a figure that needs another line. Most figures that change need none.
    const changes = new MutationObserver(() => {
      if (standing(inner) !== before) fill();
    });
    changes.observe(inner, { subtree: true, childList: true, characterData: true });
    fill();
    return () => {
      observer.disconnect();
      changes.disconnect();
    };
  }, [columns, least]);
  const cards = Children.toArray(children);
  return (
    <div ref={box} className="fit">
      <div ref={sheet} className="fit-content deck-cards">
        {cards.map((card, i) => (
          <div
            // biome-ignore lint/suspicious/noArrayIndexKey: the cards of a slide never move
            key={i}
            className="deck-card"
            data-filler={filler && i === cards.length - 1 ? '' : undefined}
          >
            {card}
          </div>
        ))}
      </div>
    </div>
  );
}
