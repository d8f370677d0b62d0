// SPDX-License-Identifier: GPL-2.0-or-later
/** Fills its box: lays its content out narrower and shows it larger, until the box is full. */

import { type ReactNode, useLayoutEffect, useRef } from 'react';

const largest = 2.2;
/** Below 1 text would be smaller than the page's smallest; better that than cut off. */
const smallest = 0.7;
const step = 0.05;

/** The largest scale at which the content is not higher than the box. `heightAt`: at a layout width, px. */
export function scaleToFill(
  box: { readonly width: number; readonly height: number },
  heightAt: (width: number) => number,
): number {
  for (let n = Math.round(largest / step); n > Math.round(smallest / step); n--) {
    const scale = n * step;
    if (heightAt(box.width / scale) * scale <= box.height) return scale;
  }
  return smallest;
}

/** The first count of columns that gives a scale of at least 1, else the one that gives the largest. */
export function columnsToFill(
  counts: readonly number[],
  scaleAt: (columns: number) => number,
): readonly [scale: number, columns: number] {
  let best: readonly [number, number] = [0, counts[0] ?? 1];
  for (const n of counts) {
    const scale = scaleAt(n);
    if (scale > best[0]) best = [scale, n];
    if (scale >= 1) break;
  }
  return best;
}

interface Props {
  readonly children: ReactNode;
  /** How many columns the content may have, as `--columns`: the first with which its text need not be small. */
  readonly columns?: readonly number[];
}

const one: readonly number[] = [1];

export function Fit({ children, columns = one }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const [outer, inner] = [box.current, content.current];
    if (outer === null || inner === null) return undefined;
    const fill = () => {
      const { clientWidth: width, clientHeight: height } = outer;
      if (width === 0 || height === 0) return;
      const [scale, n] = columnsToFill(columns, (count) => {
        inner.style.setProperty('--columns', String(count));
        return scaleToFill({ width, height }, (at) => {
          inner.style.width = `${Math.floor(at)}px`;
          return inner.offsetHeight;
        });
      });
      inner.style.setProperty('--columns', String(n));
      inner.style.width = `${Math.floor(width / scale)}px`;
      inner.style.transform = `scale(${scale})`;
    };
    const observer = new ResizeObserver(fill);
    observer.observe(outer);
    observer.observe(inner);
    fill();
    return () => observer.disconnect();
  }, [columns]);
  return (
    <div ref={box} className="fit">
      <div ref={content} className="fit-content">
        {children}
      </div>
    </div>
  );
}
