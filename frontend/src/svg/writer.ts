// SPDX-License-Identifier: GPL-2.0-or-later
/** Lines of SVG. Shapes of one look that follow each other share a group, which keeps files small. */

import { type Attributes, attributes } from './xml.ts';

export class Writer {
  readonly #out: string[] = [];
  #run: { readonly look: string; readonly shapes: string[] } = { look: '', shapes: [] };
  #depth = 0;

  /** Groups that are open. */
  get depth(): number {
    return this.#depth;
  }

  get empty(): boolean {
    return this.#out.length + this.#run.shapes.length === 0;
  }

  /** One shape, without its opening bracket. */
  shape(look: string, shape: string): void {
    if (this.#run.look !== look) {
      this.#flush();
      this.#run = { look, shapes: [] };
    }
    this.#run.shapes.push(shape);
  }

  /** An element as it is. */
  element(element: string): void {
    this.#flush();
    this.#out.push(element);
  }

  group(look: Attributes): void {
    this.element(`<g${attributes(look)}>`);
    this.#depth += 1;
  }

  /** Close groups until so many are open. */
  closeTo(depth: number): void {
    while (this.#depth > depth) {
      this.element('</g>');
      this.#depth -= 1;
    }
  }

  /** All of it, with every group closed. */
  text(): string {
    this.closeTo(0);
    this.#flush();
    return this.#out.join('\n');
  }

  #flush(): void {
    const { look, shapes } = this.#run;
    this.#run = { look: '', shapes: [] };
    if (shapes.length === 1) this.#out.push(`<${shapes[0]!.replace(/(?=[ >/])/, () => look)}`);
    else if (shapes.length > 1) {
      this.#out.push(`<g${look}>`, ...shapes.map((shape) => `<${shape}`), '</g>');
    }
  }
}
