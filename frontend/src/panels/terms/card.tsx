// SPDX-License-Identifier: GPL-2.0-or-later
/** The card of a term: its drawing and what it is. Esc and a click elsewhere close it. */

import { useEffect, useLayoutEffect, useRef, useState, useSyncExternalStore } from 'react';
import { createPortal } from 'react-dom';
import type { Lesson, Term } from '../../protocol/lesson.ts';
import { Drawing } from './drawing.tsx';
import type { CardHost, Shown } from './host.ts';
import { type Spot, spotOf } from './spot.ts';

interface Props {
  readonly host: CardHost;
  readonly terms: ReadonlyMap<string, Term>;
  readonly drawings: Lesson['drawings'];
}

export function TermCard({ host, terms, drawings }: Props) {
  const shown = useSyncExternalStore(host.subscribe, host.current);
  const term = shown && terms.get(shown.name);
  if (!shown || !term) return null;
  return <Card key={term.name} {...{ host, shown, term }} svg={drawings[term.name] ?? ''} />;
}

interface CardProps {
  readonly host: CardHost;
  readonly shown: Shown;
  readonly term: Term;
  readonly svg: string;
}

function Card({ host, shown, term, svg }: CardProps) {
  const card = useRef<HTMLDivElement>(null);
  const spot = useSpot(host, shown.anchor, card);
  useClosing(host, shown, card);
  return createPortal(
    <div
      ref={card}
      role="tooltip"
      className="term-card"
      data-testid="term-card"
      style={spot ? { left: spot.left, top: spot.top, maxHeight: spot.height } : undefined}
      data-placed={spot ? '' : undefined}
      onPointerEnter={() => host.stay()}
      onPointerLeave={() => host.leave()}
    >
      {svg && <Drawing svg={svg} />}
      <p>
        <b>{term.name}</b> {term.says}
      </p>
    </div>,
    document.body,
  );
}

/** Follows the word when the page scrolls; a word that is out of sight has no card. */
function useSpot(
  host: CardHost,
  anchor: HTMLElement,
  card: React.RefObject<HTMLElement | null>,
): Spot | null {
  const [spot, setSpot] = useState<Spot | null>(null);
  useLayoutEffect(() => {
    const place = () => {
      const word = anchor.getBoundingClientRect();
      const view = { width: innerWidth, height: innerHeight };
      if (word.bottom < 0 || word.top > view.height) return host.close();
      const own = card.current;
      if (own)
        setSpot(spotOf(word, { width: own.offsetWidth, height: own.scrollHeight + 2 }, view));
    };
    place();
    addEventListener('scroll', place, { capture: true, passive: true });
    addEventListener('resize', place);
    return () => {
      removeEventListener('scroll', place, { capture: true });
      removeEventListener('resize', place);
    };
  }, [host, anchor, card]);
  return spot;
}

/** Before anybody else gets the key: Esc closes the card and nothing behind it. */
function useClosing(host: CardHost, shown: Shown, card: React.RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const key = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return;
      event.stopPropagation();
      event.preventDefault();
      host.close();
    };
    const press = ({ target }: PointerEvent) => {
      const at = target instanceof Node ? target : null;
      if (!card.current?.contains(at) && !shown.anchor.contains(at)) host.close();
    };
    addEventListener('keydown', key, { capture: true });
    addEventListener('pointerdown', press, { capture: true });
    return () => {
      removeEventListener('keydown', key, { capture: true });
      removeEventListener('pointerdown', press, { capture: true });
    };
  }, [host, shown, card]);
}
