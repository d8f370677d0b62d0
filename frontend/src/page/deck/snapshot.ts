// SPDX-License-Identifier: GPL-2.0-or-later
/** A slide as it stands now, for paper: text stays text, what was drawn becomes a picture. */

/** A copy of an element that nobody can use. Canvases are read, so they must have been drawn. */
export function snapshot(of: HTMLElement): HTMLElement {
  const copy = of.cloneNode(true) as HTMLElement;
  const drawn = [...of.querySelectorAll('canvas')];
  for (const [i, empty] of [...copy.querySelectorAll('canvas')].entries()) {
    const image = document.createElement('img');
    image.src = drawn[i]?.toDataURL('image/png') ?? '';
    image.alt = '';
    image.style.cssText = empty.style.cssText;
    image.className = empty.className;
    empty.replaceWith(image);
  }
  for (const element of [copy, ...copy.querySelectorAll<HTMLElement>('*')]) {
    element.removeAttribute('data-testid');
    element.removeAttribute('id');
  }
  copy.inert = true;
  return copy;
}
