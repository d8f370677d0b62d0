// SPDX-License-Identifier: GPL-2.0-or-later
/** The legend: the kinds of marks that the step can show. Kinds outside the lesson come last and are muted. */

import { type RefObject, useLayoutEffect, useRef, useState } from 'react';
import { t } from '../base/lang/t.ts';
import type { Theme } from '../base/theme.ts';
import { kindsIn } from '../derive/query.ts';
import type { RunIndex } from '../derive/types.ts';
import type { Kind, Lesson, Scene } from '../protocol/lesson.ts';
import type { ViewKind } from '../views/contract.ts';
import { viewOf } from '../views/registry.ts';
import { Terms } from './terms/terms.tsx';

// A legend that would push lanes out of the window is folded, and a button unfolds it.
// A folded legend shows only its first rows, and only signs that belong to the lesson.

/** A legend of up to this many rows is not folded, because the button would need a row too. */
const freeRows = 3;
const firstRows = 2;

/**
 * Number of signs to show in the folded legend. Pure.
 *
 * @param tops vertical position of each sign in order, px
 * @param own number of signs that belong to the lesson; these signs come first
 * @returns null if all signs are shown
 */
export function signsShown(tops: readonly number[], own = tops.length): number | null {
  const rows = [...new Set(tops)];
  const beyond = rows[firstRows];
  const fit = rows.length <= freeRows || beyond === undefined ? tops.length : tops.indexOf(beyond);
  const shown = own === 0 ? fit : Math.min(fit, own);
  return shown === tops.length ? null : shown;
}

/**
 * Compute signsShown for a list on the page. Repeat this when the width of the list or its signs change.
 *
 * @param on whether the list may be folded
 */
function useFirstRows(
  list: RefObject<HTMLElement | null>,
  on: boolean,
  signs: string,
  own: number,
): number | null {
  const [shown, setShown] = useState<number | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies(signs): other signs have other widths
  useLayoutEffect(() => {
    const { current } = list;
    const around = current?.parentElement;
    if (!on || !current || !around) {
      setShown(null);
      return;
    }
    const measure = () => {
      current.dataset['measured'] = '';
      const items = [...current.children].filter((item) => item instanceof HTMLElement);
      setShown(
        signsShown(
          items.map((item) => item.offsetTop),
          own,
        ),
      );
      delete current.dataset['measured'];
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(around);
    return () => observer.disconnect();
  }, [list, on, signs, own]);
  return shown;
}

/**
 * The kinds of marks that the legend lists: the kinds in focus, and the kinds that every picture has. If no kind is in
 * focus, the lesson's kinds are listed. Tracks are listed only if the picture shows them.
 */
export function legendKinds(lesson: Lesson, scene: Scene): readonly Kind[] {
  const focus = new Set(scene.focus);
  const tracks = scene.show.includes('tracks');
  const fits = (kind: Kind) => {
    const wanted =
      focus.size === 0 ? kind.lesson && kind.layer !== 'function' : focus.has(kind.name);
    if (wanted) return kind.layer !== 'track' || tracks;
    return kind.layer === 'state' && (kind.name === 'running' || kind.name === 'runnable');
  };
  const always = lesson.kinds.filter((kind) => kind.always && !fits(kind));
  return [...lesson.kinds.filter(fits), ...always];
}

/**
 * The part of a kind's title before a colon, a semicolon or a parenthesis. The rest is in the tooltip and in the mark's
 * description.
 */
export function legendWords(kind: Kind): string {
  const name = (kind.title.split(/[:;(]/)[0] ?? kind.title).trim();
  return kind.lesson ? name : t('{name} (not the lesson)', { name });
}

interface Props {
  readonly lesson: Lesson;
  readonly scene: Scene;
  readonly theme: Theme;
  /** The run on the stage; null while it is not known. */
  readonly index: RunIndex | null;
  /** Whether the legend may be folded if it needs many rows or has signs that do not belong to the lesson. */
  readonly folds?: boolean;
}

/** The opacity of a sign in the legend, equal to that of the kind's marks in the picture. A hazard is never muted. */
export function strengthOf(
  { mutes }: Pick<ViewKind, 'mutes'>,
  { focus }: Pick<Scene, 'focus'>,
  { name, colour, lesson }: Kind,
): number {
  if (mutes === undefined) return lesson ? 1 : 0.75;
  return focus.length === 0 || focus.includes(name) || colour === 'hazard' ? 1 : mutes;
}

export function Legend({ lesson, scene, theme, index, folds = false }: Props) {
  const view = viewOf(lesson.view);
  const { Swatch } = view;
  const there = index === null ? null : kindsIn(index);
  const all = view.legend?.(lesson, scene, there) ?? legendKinds(lesson, scene);
  const kinds = all.toSorted((a, b) => Number(b.lesson) - Number(a.lesson));
  const list = useRef<HTMLUListElement>(null);
  const [whole, setWhole] = useState(false);
  const own = kinds.filter((kind) => kind.lesson).length;
  const shown = useFirstRows(list, folds, kinds.map((kind) => kind.name).join(), own);
  const first = whole || shown === null ? kinds.length : shown;
  return (
    <>
      <ul
        ref={list}
        className="legend"
        aria-label={t('Legend')}
        data-folded={first < kinds.length ? '' : undefined}
        data-testid="legend"
      >
        {kinds.map((kind, i) => (
          <li
            key={kind.name}
            title={kind.title}
            data-muted={kind.lesson ? undefined : ''}
            data-beyond={i < first ? undefined : ''}
          >
            <span className="swatch" style={{ opacity: strengthOf(view, scene, kind) }}>
              <Swatch kind={kind.name} kinds={lesson.kinds} theme={theme} />
            </span>
            <span>
              <Terms text={legendWords(kind)} />
            </span>
          </li>
        ))}
      </ul>
      {shown !== null && (
        <button
          type="button"
          className="link small legend-more"
          aria-expanded={whole}
          onClick={() => setWhole(!whole)}
          data-testid="legend-more"
        >
          {whole
            ? t('shorter legend')
            : t('{count} more in the legend', { count: kinds.length - shown })}
        </button>
      )}
    </>
  );
}
