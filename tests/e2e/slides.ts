// SPDX-License-Identifier: GPL-2.0-or-later
/** What a test reads off a slide: its smallest text, also that of the canvas pen, its lanes and claim, and how full it is. These run in the page. */

interface Smallest {
  readonly px: number;
  readonly words: string;
}

export interface SlideFacts {
  readonly step: string;
  readonly kind: string;
  readonly revealed: boolean;
  readonly lanes: readonly string[];
  readonly text: Smallest;
  readonly pen: Smallest;
  /** The widest empty band of the slide's body, as a share of it. */
  readonly emptyAcross: number;
  readonly emptyDown: number;
  /** What is higher than its box, and words below a canvas. */
  readonly cut: readonly string[];
  /** What had no room, and stands on paper alone. */
  readonly leftOut: readonly string[];
  /** What is said over a picture; null on other slides. */
  readonly claim: (Smallest & { readonly lines: number }) | null;
  /** Answers that are marked, or sentences that are shown. */
  readonly answers: number;
  /** The lines of each patch. */
  readonly patches: readonly string[];
}

interface Drawn extends Smallest {
  /** Words that begin below the canvas. */
  readonly below: readonly string[];
  /** Of the canvas when they were drawn: one that has another height now was emptied. */
  readonly height: number;
}

/** Before the page's own scripts: remembers of each canvas the smallest text of its last drawing, as it is seen. */
export function measurePens(): void {
  const pens = new Map<HTMLCanvasElement, Drawn>();
  Object.assign(window, { pens });
  const pen = CanvasRenderingContext2D.prototype;
  const { fillText, clearRect } = pen;
  pen.clearRect = function (x: number, y: number, w: number, h: number) {
    if (x <= 0 && y <= 0 && w * this.getTransform().a >= this.canvas.width - 2) pens.delete(this.canvas);
    return clearRect.call(this, x, y, w, h);
  };
  pen.fillText = function (text: string, ...rest: [number, number, number?]) {
    const { canvas } = this;
    // Text may be turned.
    const { a, b, c, d, f } = this.getTransform();
    const own = Number(/([\d.]+)px/.exec(this.font)?.[1] ?? 0) * Math.sqrt(Math.abs(a * d - b * c));
    const px = (own * canvas.getBoundingClientRect().width) / canvas.width;
    if (text.trim() !== '' && canvas.isConnected) {
      const last = pens.get(canvas);
      const { height } = canvas;
      const old = last?.height === height ? last : { px: Infinity, words: '', below: [] };
      const below = b * rest[0] + d * rest[1] + f > canvas.height ? [...old.below, text] : old.below;
      pens.set(canvas, { ...(px < old.px ? { px, words: text } : old), below, height });
    }
    return fillText.call(this, text, ...rest);
  };
}

/** Of the slide that is shown. */
export function slideFacts(): SlideFacts {
  const { pens } = window as unknown as {
    pens: Map<HTMLCanvasElement, Drawn>;
  };
  const body = document.querySelector<HTMLElement>('.deck-body')!;
  const box = body.getBoundingClientRect();
  const scaleOf = (element: Element): number => {
    let scale = 1;
    for (let at: Element | null = element; at !== null; at = at.parentElement) {
      const { transform } = getComputedStyle(at);
      if (transform.startsWith('matrix')) scale *= new DOMMatrix(transform).a;
      if (at instanceof SVGSVGElement) return at.getScreenCTM()?.d ?? 1;
    }
    return scale;
  };
  const filled: DOMRect[] = [];
  let text = { px: Infinity, words: '' };
  const walker = document.createTreeWalker(document.querySelector('.deck')!, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const words = node.textContent?.trim() ?? '';
    const element = node.parentElement!;
    if (words === '' || element.closest('.hidden-text, title') !== null) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const at = range.getBoundingClientRect();
    if (at.width < 2 || at.height < 2 || getComputedStyle(element).visibility === 'hidden')
      continue;
    const px = Number.parseFloat(getComputedStyle(element).fontSize) * scaleOf(element);
    if (px < text.px) text = { px, words };
    if (body.contains(element)) filled.push(at);
  }
  for (const element of body.querySelectorAll('svg, img, .ask-choice'))
    if (getComputedStyle(element).opacity !== '0') filled.push(element.getBoundingClientRect());
  // Of a canvas what is drawn on, looked at coarsely.
  const [wide, high] = [96, 54];
  for (const canvas of body.querySelectorAll('canvas')) {
    const small = new OffscreenCanvas(wide, high).getContext('2d')!;
    small.drawImage(canvas, 0, 0, wide, high);
    const { data } = small.getImageData(0, 0, wide, high);
    const at = canvas.getBoundingClientRect();
    for (let cell = 0; cell < wide * high; cell++) {
      if (data[cell * 4 + 3]! < 4) continue;
      const x = at.left + ((cell % wide) / wide) * at.width;
      const y = at.top + (Math.floor(cell / wide) / high) * at.height;
      filled.push(new DOMRect(x, y, at.width / wide, at.height / high));
    }
  }
  const gap = (from: 'left' | 'top', to: 'right' | 'bottom'): number => {
    let [widest, reached] = [0, box[from]];
    for (const rect of filled.toSorted((a, b) => a[from] - b[from])) {
      widest = Math.max(widest, rect[from] - reached);
      reached = Math.max(reached, rect[to]);
    }
    return Math.max(widest, box[to] - reached) / (box[to] - box[from]);
  };
  let drawn: Drawn = { px: Infinity, words: '', below: [], height: 0 };
  const below: string[] = [];
  for (const [canvas, found] of pens) {
    if (!canvas.isConnected || canvas.height !== found.height) continue;
    if (found.px < drawn.px) drawn = found;
    below.push(...found.below.map((words) => `drawn below the canvas: ${words}`));
  }
  const said = body.querySelector<HTMLElement>('.deck-claim');
  const style = said === null ? null : getComputedStyle(said);
  const filledWords = [...body.querySelectorAll('.ask-sentence .ask-words')].filter((one) => one.textContent !== '');
  const lanes = [...body.querySelectorAll('[data-testid^=lane-]')];
  return {
    step: body.dataset['step'] ?? '',
    kind: body.dataset['kind'] ?? '',
    revealed: body.dataset['revealed'] !== undefined,
    lanes: lanes.map((lane) => (lane as HTMLElement).dataset['testid']!.slice('lane-'.length)),
    text,
    pen: { px: drawn.px, words: drawn.words },
    emptyAcross: gap('left', 'right'),
    emptyDown: gap('top', 'bottom'),
    cut: [...new Set(below)].concat([...body.querySelectorAll('*')]
      .filter((one) => one.clientHeight > 0 && getComputedStyle(one).overflowY !== 'visible')
      .filter(
        (one) => one.scrollHeight > one.clientHeight + 2 && !one.classList.contains('hidden-text'),
      )
      .map((one) => `${one.className}: ${one.scrollHeight} in ${one.clientHeight}`)),
    leftOut: [...body.querySelectorAll('[data-left-out]')].map((one) => one.textContent ?? ''),
    claim:
      said === null || style === null
        ? null
        : {
            words: said.textContent ?? '',
            px: Number.parseFloat(style.fontSize) * scaleOf(said),
            lines: Math.round(
              (said.clientHeight - Number.parseFloat(style.paddingTop) - Number.parseFloat(style.paddingBottom)) /
                Number.parseFloat(style.lineHeight),
            ),
          },
    answers: body.querySelectorAll('.ask [data-truth]').length + filledWords.length,
    patches: [...body.querySelectorAll('.patch pre')].map((one) => one.textContent ?? ''),
  };
}
