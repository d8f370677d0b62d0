// SPDX-License-Identifier: GPL-2.0-or-later
/** A change in the making: the texts of the files, or a diff that stands by itself because it does not fit them. */

import { EditorState } from '@codemirror/state';
import { t } from '../base/lang/t.ts';
import type { ArmSource } from '../protocol/contract.gen.ts';
import { applyDiff, makeDiff } from './diff.ts';
import { forDiff } from './setup.ts';
import { Texts } from './texts.ts';

export class Work extends Texts {
  readonly source: ArmSource;
  /** The diff stands by itself; else it is made of the texts. */
  apart = false;
  #apartState: EditorState;
  #made: { readonly version: number; readonly diff: string } = { version: -1, diff: '' };

  constructor(source: ArmSource) {
    super(source.files, source.off !== '');
    this.source = source;
    this.#apartState = this.#diffState('');
  }

  get apartState(): EditorState {
    return this.#apartState;
  }

  keepApart(state: EditorState, changed: boolean): void {
    this.#apartState = state;
    if (changed) this.news(true);
  }

  diff(): string {
    if (this.#made.version !== this.version)
      this.#made = {
        version: this.version,
        diff: !this.apart
          ? makeDiff(this.files, new Map(this.files.map(({ name }) => [name, this.text(name)])))
          : this.#apartState.doc.toString(),
      };
    return this.#made.diff;
  }

  /**
   * Puts a diff in the place of what is there; undo brings that back. One that does not fit stands by itself.
   * @param apart it stands by itself although it may fit
   */
  take(diff: string, apart = false): void {
    const applied = apart ? null : applyDiff(this.files, diff);
    this.apart = !applied?.fits;
    if (applied?.fits) {
      for (const { name, text } of this.files) this.replace(name, applied.texts.get(name) ?? text);
    } else this.#apartState = this.#diffState(diff);
    this.news(false);
  }

  /** Why a diff that stands by itself cannot be put on the files, a sentence; empty: it can. */
  misfit(): string {
    const applied = applyDiff(this.files, this.diff());
    return applied.fits ? '' : applied.why;
  }

  /** Leaves a diff that stands by itself, for the files as they stand. */
  aside(): void {
    this.apart = false;
    this.news(false);
  }

  /** Back to the arm's own text, which undo takes back in turn. */
  reset(): void {
    this.apart = false;
    for (const { name, text } of this.files) this.replace(name, text);
    this.news(true);
  }

  #diffState(doc: string): EditorState {
    return EditorState.create({
      doc,
      extensions: forDiff(t('The change as a diff'), this.readOnly),
    });
  }
}
