// SPDX-License-Identifier: GPL-2.0-or-later
/** The address bar as state: a step or a run is an entry of the history, a moment only replaces it. */

import { useCallback, useEffect, useState } from 'react';
import { type Place, readPlace, writePlace } from './place.ts';

export type Go = (change: Partial<Place>, how?: 'push' | 'replace') => void;

/** Browsers refuse hundreds of replacements in half a minute: a knob that is dragged is written when it rests. */
const restMs = 150;

/** Writes addresses; those that only replace wait until nothing newer came for a while. */
class Address {
  #timer: ReturnType<typeof setTimeout> | null = null;
  #wanted: Place | null = null;

  replace(place: Place): void {
    this.#wanted = place;
    this.#timer ??= setTimeout(() => this.flush(), restMs);
  }

  push(place: Place): void {
    this.flush();
    const url = this.#urlOf(place);
    if (url !== null) history.pushState(null, '', url);
  }

  flush(): void {
    const place = this.#wanted;
    this.forget();
    const url = place === null ? null : this.#urlOf(place);
    if (url !== null) history.replaceState(null, '', url);
  }

  /** The viewer went elsewhere: what was to be written belongs to the entry that was left. */
  forget(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#wanted = null;
  }

  #urlOf(place: Place): string | null {
    const url = location.pathname + writePlace(place, location.search);
    return url === location.pathname + location.search ? null : url;
  }
}

interface Visit {
  readonly place: Place;
  /** Rises when the place was asked for by Back, Forward or a link: all of it is to be restored. */
  readonly visit: number;
}

/** Goes to a place as to a link: all of it is restored. The entry of the history is replaced. */
export type VisitPlace = (to: Place) => void;

export function usePlace(): readonly [Place, Go, number, VisitPlace] {
  const [{ place, visit }, set] = useState<Visit>(() => ({
    place: readPlace(location.search),
    visit: 0,
  }));
  const [address] = useState(() => new Address());
  useEffect(() => {
    const back = () => {
      address.forget();
      set((now) => ({ place: readPlace(location.search), visit: now.visit + 1 }));
    };
    const leave = () => address.flush();
    addEventListener('popstate', back);
    addEventListener('pagehide', leave);
    return () => {
      removeEventListener('popstate', back);
      removeEventListener('pagehide', leave);
      address.flush();
    };
  }, [address]);
  const go = useCallback<Go>(
    (change, how = 'push') => {
      set((now) => {
        const next = { ...now.place, ...change };
        address[how](next);
        return { ...now, place: next };
      });
    },
    [address],
  );
  const visitPlace = useCallback<VisitPlace>(
    (to) => {
      address.replace(to);
      set((now) => ({ place: to, visit: now.visit + 1 }));
    },
    [address],
  );
  return [place, go, visit, visitPlace];
}
