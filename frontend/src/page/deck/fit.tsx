// SPDX-License-Identifier: GPL-2.0-or-later
/** Text on paper fills its box: it is laid out narrower and shown larger, until the box is full. */

import { type ReactNode, useLayoutEffect, useRef } from 'react';

const largest = 2.2;
/** Better small than cut off: a reader of paper can come nearer. */
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

export function Fit({ children }: { readonly children: ReactNode }) {
  const box = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const [outer, inner] = [box.current, content.current];
    if (outer === null || inner === null) return undefined;
    const fill = () => {
      const { clientWidth: width, clientHeight: height } = outer;
      if (width === 0 || height === 0) return;
      const scale = scaleToFill({ width, height }, (at) => {
        inner.style.width = `${Math.floor(at)}px`;
        return inner.offsetHeight;
      });
      inner.style.width = `${Math.floor(width / scale)}px`;
      inner.style.transform = `scale(${scale})`;
    };
    const observer = new ResizeObserver(fill);
    observer.observe(outer);
    observer.observe(inner);
    fill();
    return () => observer.disconnect();
  }, []);
  return (
    <div ref={box} className="fit">
      <div ref={content} className="fit-content">
        {children}
      </div>
    </div>
  );
}
