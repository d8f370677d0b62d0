// SPDX-License-Identifier: GPL-2.0-or-later
/** Writes shapes. A fill waits for the stroke of the same path, so that both become one element. */

import type { Path } from './path.ts';
import { type Matrix, matrixWords } from './state.ts';
import type { Writer } from './writer.ts';
import { type Attributes, attributes } from './xml.ts';

interface Filled {
  readonly path: Path;
  readonly length: number;
  readonly look: Attributes;
}

export class Outlines {
  readonly #out: Writer;
  readonly #at: { readonly matrix: Matrix };
  /** A path that was filled; a stroke that follows goes with it. */
  #filled: Filled | null = null;

  /** @param at holds what the pen's matrix is at the moment */
  constructor(out: Writer, at: { readonly matrix: Matrix }) {
    this.#out = out;
    this.#at = at;
  }

  /** A path as it is. */
  put(path: Path, look: Attributes): void {
    const words = attributes({ ...look, transform: matrixWords(this.#at.matrix) });
    for (const shape of path.shapes()) this.#out.shape(words, `${shape}/>`);
  }

  fill(path: Path, look: () => Attributes): void {
    this.settle();
    this.#filled = { path, length: path.length, look: { ...look(), stroke: null } };
  }

  stroke(path: Path, look: () => Attributes): void {
    const filled = this.#filled;
    const together = filled?.path === path && filled.length === path.length;
    if (!together) this.settle();
    this.#filled = null;
    this.put(path, { ...(together ? filled!.look : { fill: 'none' }), ...look() });
  }

  /** A fill that no stroke followed is drawn. */
  settle(): void {
    const filled = this.#filled;
    this.#filled = null;
    if (filled !== null) this.put(filled.path, filled.look);
  }
}
