// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * <kernel-duet lesson="NN-slug" step="its-id" at="12.5"> shows a step of a lesson in other people's slides and pages.
 *
 * The element contains a frame with the embedded page. The frame is loaded when the element becomes visible, and paused
 * when the element is hidden, as on a hidden slide. With `autoplay`, playback continues when the element is visible
 * again.
 */

import {
  type DeckKey,
  deckKeys,
  type FrameMessage,
  isFrameMessage,
  tag,
} from './frame-messages.ts';

// Computes the frame's address from the attributes of <kernel-duet>. Pure.

/** Attributes that are copied to the address unchanged. `Place` reads them there. */
const placed = [
  ...(['lesson', 'step', 'at', 'run', 'with', 'arms', 'speed', 'align', 'n'] as const),
  ...(['from', 'for', 'knobs', 'clock', 'workload', 'open', 'lang'] as const),
] as const;

export type Attributes = (name: string) => string | null;

/**
 * The folder of the page: `src`, or by default the folder of this script. Only http, https and file addresses are
 * allowed; others give null.
 */
export function folderOf(src: string | null, script: string, document: string): URL | null {
  try {
    const folder = new URL(src ?? './', src === null ? script || document : document);
    return /^(https?|file):$/.test(folder.protocol) ? folder : null;
  } catch {
    return null;
  }
}

/** The address for the frame, which shows the place that the attributes describe. */
export function frameAddress(folder: URL, of: Attributes): string {
  const query = new URLSearchParams({ embed: '1' });
  for (const name of placed) {
    const value = of(name);
    if (value !== null && value !== '') query.set(name, value);
  }
  const page = new URL(folder);
  // Without a server, as in a folder opened as a file, index.html must be added to the path.
  if (page.protocol === 'file:' && page.pathname.endsWith('/')) page.pathname += 'index.html';
  page.search = query.toString();
  page.hash = '';
  return page.href;
}

/** The CSS aspect ratio for a text such as `16/9` or `4 / 3`; the default ratio if the text is invalid. */
export function ratioOf(text: string | null): string {
  const match = /^\s*(\d{1,4})\s*[/:]\s*(\d{1,4})\s*$/.exec(text ?? '');
  return match ? `${match[1]} / ${match[2]}` : '16 / 10';
}

const style = `
:host { display: block; contain: content; min-height: 12em; aspect-ratio: var(--duet-ratio) }
:host([hidden]) { display: none }
iframe { border: 0; width: 100%; height: 100%; display: block; background: transparent }
p { margin: 0; font: 14px/1.5 system-ui, sans-serif }
p.print { display: none }
@media print { iframe { display: none } p.print { display: block } }
`;
/** The URL of this script, which is only known while the script is executed. */
const script = (document.currentScript as HTMLScriptElement | null)?.src ?? '';

export class KernelDuet extends HTMLElement {
  static readonly observedAttributes = [...placed, 'src', 'ratio', 'title'];
  #frame: HTMLIFrameElement | null = null;
  #sight: IntersectionObserver | null = null;
  #seen = false;
  #ready = false;
  /** Whether playback was paused because the element was hidden. */
  #paused = false;

  connectedCallback(): void {
    this.#draw();
    addEventListener('message', this.#hear);
    this.#sight = new IntersectionObserver((entries) => {
      this.#look(entries.at(-1)?.isIntersecting ?? false);
    });
    this.#sight.observe(this);
  }

  disconnectedCallback(): void {
    removeEventListener('message', this.#hear);
    this.#sight?.disconnect();
    this.#frame = null;
    this.#ready = false;
  }

  attributeChangedCallback(name: string, old: string | null, value: string | null): void {
    if (!this.isConnected || old === value) return;
    const at = name === 'at' && value !== null ? Number(value) : Number.NaN;
    // If only the moment has changed, the frame need not be reloaded.
    if (this.#ready && Number.isFinite(at)) this.#say({ kind: tag, act: 'seek', at_ms: at });
    else this.#draw();
  }

  play(): void {
    this.#say({ kind: tag, act: 'play' });
  }

  pause(): void {
    this.#say({ kind: tag, act: 'pause' });
  }

  readonly #hear = (event: MessageEvent<unknown>): void => {
    if (event.source !== this.#frame?.contentWindow || !isFrameMessage(event.data)) return;
    if (event.data.act === 'keydown' || event.data.act === 'keyup')
      this.#press(event.data.act, event.data.key);
    if (event.data.act !== 'ready') return;
    this.#ready = true;
    // A slide may still be moving into view and count as hidden, so visibility is checked again.
    this.#look(this.#seen);
    if (this.#seen && this.hasAttribute('autoplay')) this.play();
    this.dispatchEvent(new CustomEvent('ready'));
  };

  /**
   * Repeat a key press that the frame does not use, so that the slide deck receives it. Escape only moves the focus out
   * of the frame.
   */
  #press(act: 'keydown' | 'keyup', key: DeckKey): void {
    if (this.shadowRoot?.activeElement !== this.#frame) return;
    if (key === 'Escape') {
      this.#frame?.blur();
      return;
    }
    const [code, keyCode] = [key === ' ' ? 'Space' : key, deckKeys[key]];
    const init = { key, code, keyCode, which: keyCode, bubbles: true, cancelable: true };
    this.dispatchEvent(new KeyboardEvent(act, { ...init, composed: true }));
  }

  #look(seen: boolean): void {
    this.#seen = seen;
    if (!this.#ready) return;
    if (!seen) {
      this.pause();
      this.#paused = true;
    } else if (this.#paused && this.hasAttribute('autoplay')) {
      this.#paused = false;
      this.play();
    }
  }

  #say(message: FrameMessage): void {
    // The target origin must be `*`, because the origin of a file is `null`.
    // This is safe, because the frame accepts no message that acts on a guest.
    this.#frame?.contentWindow?.postMessage(message, '*');
  }

  #draw(): void {
    const root = this.shadowRoot ?? this.attachShadow({ mode: 'open' });
    const folder = folderOf(this.getAttribute('src'), script, document.baseURI);
    const rules = document.createElement('style');
    rules.textContent = style;
    this.style.setProperty('--duet-ratio', ratioOf(this.getAttribute('ratio')));
    this.#ready = false;
    this.#frame = null;
    if (folder === null) {
      const why = `src wants the address of a folder or server, but "${this.getAttribute('src')}" came.`;
      root.replaceChildren(rules, said(`kernel-duet: ${why}`));
      return;
    }
    const frame = document.createElement('iframe');
    frame.title = this.getAttribute('title') ?? 'Kernel Duet';
    frame.loading = 'lazy';
    frame.allow = 'fullscreen';
    frame.src = frameAddress(folder, (name) => this.getAttribute(name));
    this.#frame = frame;
    const print = said(`Kernel Duet: ${frame.src}`);
    print.className = 'print';
    root.replaceChildren(rules, frame, print);
  }
}

function said(text: string): HTMLParagraphElement {
  const words = document.createElement('p');
  words.textContent = text;
  return words;
}
