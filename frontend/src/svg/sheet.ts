// SPDX-License-Identifier: GPL-2.0-or-later
/** What the parts of one picture share: definitions with their ids, and what needs a browser. */

import type { Measure } from './type.ts';

export interface Part {
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}

export interface Tools {
  readonly measure: Measure;
  /** A part of an image as a data: address. */
  readonly pixels: (image: CanvasImageSource, part: Part) => string;
}

export class Sheet {
  readonly tools: Tools;
  readonly #prefix: string;
  readonly #ids = new Map<unknown, string>();
  readonly #made: string[] = [];

  /** `prefix` keeps the ids of two pictures in one document apart. */
  constructor(prefix: string, tools: Tools) {
    this.#prefix = prefix;
    this.tools = tools;
  }

  /** Id of a definition; made at the first call for a key. */
  define(key: unknown, make: (id: string) => string): string {
    const known = this.#ids.get(key);
    if (known !== undefined) return known;
    const id = `${this.#prefix}-${this.#ids.size + 1}`;
    this.#ids.set(key, id);
    const made = make(id);
    this.#made.push(made);
    return id;
  }

  clip(shapes: string): string {
    return this.define(shapes, (id) => `<clipPath id="${id}">${shapes}</clipPath>`);
  }

  defs(): string {
    return this.#made.length === 0 ? '' : `<defs>\n${this.#made.join('\n')}\n</defs>\n`;
  }
}
