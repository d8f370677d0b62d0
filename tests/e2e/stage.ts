// SPDX-License-Identifier: GPL-2.0-or-later
/** How a page uses its stage: what the picture fills, what is cut off, covered, overprinted or too faint. These run in the page. */

interface Rect {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

interface Text extends Rect {
  readonly words: string;
  readonly colour: string;
}

export interface StageFacts {
  /** Share of the stage within the outline of what is drawn. */
  readonly used: number;
  /** The widest band of the stage with nothing in it, as a share of its height and of its width. */
  readonly emptyDown: number;
  readonly emptyAcross: number;
  /** The faintest text of the canvases, as a ratio of luminances; 21 without text. */
  readonly contrast: number;
  readonly faintest: string;
  /** What ends at an edge and cannot be scrolled to or read elsewhere. */
  readonly cut: readonly string[];
  /** Words that stand on other words, and controls that cover the picture. */
  readonly overlaps: readonly string[];
  /** Lanes of the step that cannot be seen without scrolling within the stage. */
  readonly below: readonly string[];
}

/** Before the page's own scripts: remembers the words of each canvas's last drawing, in dots of the canvas. */
export function watchText(): void {
  const drawn = new Map<HTMLCanvasElement, Text[]>();
  Object.assign(window, { duetText: drawn });
  const pen = CanvasRenderingContext2D.prototype;
  const { fillText, clearRect, fillRect } = pen;
  const whole = (ctx: CanvasRenderingContext2D, x: number, y: number, w: number, h: number): boolean => {
    const { a, d } = ctx.getTransform();
    return x <= 0 && y <= 0 && w * a >= ctx.canvas.width - 2 && h * d >= ctx.canvas.height - 2;
  };
  pen.clearRect = function (...at) {
    if (whole(this, ...at)) drawn.delete(this.canvas);
    return clearRect.call(this, ...at);
  };
  pen.fillRect = function (...at) {
    if (whole(this, ...at) && this.globalAlpha === 1) drawn.delete(this.canvas);
    return fillRect.call(this, ...at);
  };
  pen.fillText = function (words: string, ...rest: [number, number, number?]) {
    const [x, y] = rest;
    if (words.trim() !== '' && typeof this.fillStyle === 'string') {
      const size = this.measureText(words);
      const m = this.getTransform();
      const corners = [
        [x - size.actualBoundingBoxLeft, y - size.actualBoundingBoxAscent],
        [x + size.actualBoundingBoxRight, y + size.actualBoundingBoxDescent],
      ].map(([px = 0, py = 0]) => new DOMPoint(px, py).matrixTransform(m));
      const [xs, ys] = [corners.map((p) => p.x), corners.map((p) => p.y)];
      const alpha = Math.round(this.globalAlpha * 255).toString(16).padStart(2, '0');
      const colour = /^#\w{6}$/.test(this.fillStyle) ? this.fillStyle + alpha : this.fillStyle;
      const all = drawn.get(this.canvas) ?? [];
      drawn.set(this.canvas, all);
      all.push({ words, colour, left: Math.min(...xs), right: Math.max(...xs), top: Math.min(...ys), bottom: Math.max(...ys) });
    }
    return fillText.call(this, words, ...rest);
  };
}

/** Of what stands in `selector`: the stage of a lesson, or the body of a slide. */
export function stageFacts(selector: string): StageFacts {
  const drawn = (window as unknown as { duetText: Map<HTMLCanvasElement, Text[]> }).duetText;
  const stage = document.querySelector<HTMLElement>(selector)!;
  const paper = colourOf(getComputedStyle(document.documentElement).getPropertyValue('--paper').trim());
  const full = stage.getBoundingClientRect();
  const scrolls = document.documentElement.scrollHeight > innerHeight + 2;
  const box: Rect = {
    left: full.left,
    top: full.top,
    right: full.right,
    bottom: scrolls ? full.bottom : Math.min(full.bottom, innerHeight),
  };
  const texts = domTexts(stage);
  const inked: Rect[] = [...texts];
  for (const one of stage.querySelectorAll('svg, img, table, .ask-choice, .stage-veil, .lane-cover'))
    if (getComputedStyle(one).opacity !== '0') inked.push(one.getBoundingClientRect());
  let [contrast, faintest] = [21, ''];
  const cut: string[] = [];
  const onCanvas: Text[] = [];
  for (const canvas of stage.querySelectorAll('canvas')) {
    const at = canvas.getBoundingClientRect();
    if (at.width < 60 || at.height < 30) continue;
    const dot = at.width / canvas.width;
    const pixels = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
    inked.push(...inkOf(pixels, paper).map((r) => moved(r, dot, at)));
    for (const text of drawn.get(canvas) ?? []) {
      const beyond = text.left < -3 || text.right > canvas.width + 3 || text.top < -3 || text.bottom > canvas.height + 3;
      const outside = text.right < 0 || text.left > canvas.width || text.bottom < 0 || text.top > canvas.height;
      if (beyond && !outside) cut.push(`drawn: “${text.words}”`);
      if (outside) continue;
      onCanvas.push({ ...text, ...moved(text, dot, at) });
      const ratio = ratioOf(pixels, text, paper);
      if (ratio < contrast) [contrast, faintest] = [ratio, text.words];
    }
  }
  const seen = inked.filter((r) => r.right > box.left && r.left < box.right && r.bottom > box.top && r.top < box.bottom);
  const outline = (Math.min(box.right, Math.max(...seen.map((r) => r.right))) - Math.max(box.left, Math.min(...seen.map((r) => r.left)))) *
    (Math.min(box.bottom, Math.max(...seen.map((r) => r.bottom))) - Math.max(box.top, Math.min(...seen.map((r) => r.top))));
  const area = (box.right - box.left) * (box.bottom - box.top);
  return {
    used: seen.length === 0 ? 0 : outline / area,
    emptyDown: gap(seen, box, 'top', 'bottom'),
    emptyAcross: gap(seen, box, 'left', 'right'),
    contrast,
    faintest,
    cut: [...new Set([...cut, ...cutOff()])],
    overlaps: [...overprinted([...onCanvas, ...texts]), ...covered(stage)],
    below: [...stage.querySelectorAll<HTMLElement>('[data-testid^=lane-]')]
      .filter((lane) => hiddenBelow(lane))
      .map((lane) => lane.dataset['testid']!.slice('lane-'.length)),
  };

  function colourOf(words: string): readonly number[] {
    const hex = /^#(\w\w)(\w\w)(\w\w)(\w\w)?$/.exec(words);
    if (hex !== null) return [...hex.slice(1, 4).map((two) => Number.parseInt(two, 16)), hex[4] === undefined ? 255 : Number.parseInt(hex[4], 16)];
    const [r = 0, g = 0, b = 0, a = 1] = (words.match(/[\d.]+/g) ?? []).map(Number);
    return [r, g, b, a * 255];
  }

  function moved(r: Rect, dot: number, at: DOMRect): Rect {
    return { left: at.left + r.left * dot, right: at.left + r.right * dot, top: at.top + r.top * dot, bottom: at.top + r.bottom * dot };
  }

  /** What is drawn, in cells of 8x4 dots: thin lines that cross the whole picture are no content. */
  function inkOf({ data, width, height }: ImageData, ground: readonly number[]): Rect[] {
    const [cw, ch] = [8, 4];
    const [r = 0, g = 0, b = 0] = ground;
    const found: Rect[] = [];
    for (let y = 0; y < height; y += ch)
      for (let x = 0; x < width; x += cw) {
        let ink = 0;
        for (let dy = 0; dy < ch; dy += 1)
          for (let dx = 0; dx < cw && x + dx < width; dx += 1) {
            const i = ((Math.min(height - 1, y + dy)) * width + x + dx) * 4;
            if (data[i + 3]! <= 8) continue;
            const far = Math.abs(data[i]! - r) + Math.abs(data[i + 1]! - g) + Math.abs(data[i + 2]! - b);
            if (far > 12) ink += 1;
          }
        if (ink >= 9) found.push({ left: x, right: x + cw, top: y, bottom: y + ch });
      }
    return found;
  }

  function luminance(colour: readonly number[]): number {
    const [r = 0, g = 0, b = 0] = colour.slice(0, 3).map((c) => (c / 255 <= 0.03928 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  }

  /** Of a text against what its letters stand on: their own cell, whatever stands around that. */
  function ratioOf(pixels: ImageData, text: Text, ground: readonly number[]): number {
    const ink = colourOf(text.colour);
    const share = (ink[3] ?? 255) / 255;
    const seenOn = (under: readonly number[]) => [0, 1, 2].map((c) => ink[c]! * share + under[c]! * (1 - share));
    const within = tallyOf(pixels, text, 0, ground);
    const around = tallyOf(pixels, text, 2, ground);
    const usual = (tally: ReadonlyMap<number, number>) => [...tally].toSorted((a, b) => b[1] - a[1]);
    const rgb = (key: number) => [key >> 16, (key >> 8) & 255, key & 255];
    const area = (text.right - text.left) * (text.bottom - text.top);
    const beyond = (text.right - text.left + 4) * (text.bottom - text.top + 4) - area;
    const beside = usual(new Map([...around].map(([key, n]) => [key, n - (within.get(key) ?? 0)])));
    const inside = usual(within).filter(([, n]) => n >= area / 14);
    /** Letters that are a few dots wide leave more mixed dots than pure ones. A mixed one stands at a letter's edge, hardly beyond its box. */
    const pure = [...inside, ...beside.filter(([, n]) => n >= beyond / 2)];
    const mixed = (key: number) => (around.get(key) ?? 0) - (within.get(key) ?? 0) < beyond / 5 &&
      pure.some(([other]) => other !== key && between(rgb(key), seenOn(rgb(other)), rgb(other)));
    const apart = (key: number) => [0, 1, 2].some((c) => Math.abs(rgb(key)[c]! - seenOn(rgb(key))[c]!) >= 12);
    const bare = inside.find(([key]) => apart(key) && !mixed(key));
    // A letter that fills its box: what is next to it, be it of the letter's own colour. Stripes: what they are from afar.
    const prevails = bare ?? beside.find(([key, n]) => n >= beyond / 4 && !mixed(key));
    const mean = [0, 1, 2].map((c) => beside.reduce((sum, [key, n]) => sum + rgb(key)[c]! * n, 0) / beside.reduce((sum, [, n]) => sum + n, 0));
    const under = prevails === undefined ? mean : rgb(prevails[0]);
    const [a, b] = [luminance(seenOn(under)), luminance(under)].toSorted((p, q) => q - p);
    return (a! + 0.05) / (b! + 0.05);
  }

  /** Colours within so many dots of a text, as they are seen on the page. */
  function tallyOf({ data, width, height }: ImageData, text: Text, margin: number, ground: readonly number[]): Map<number, number> {
    const tally = new Map<number, number>();
    for (let y = Math.max(0, Math.floor(text.top) - margin); y < Math.min(height, text.bottom + margin); y += 1)
      for (let x = Math.max(0, Math.floor(text.left) - margin); x < Math.min(width, text.right + margin); x += 1) {
        const i = (y * width + x) * 4;
        const [r = 0, g = 0, b = 0] = [0, 1, 2].map((c) => Math.round(ground[c]! + ((data[i + c]! - ground[c]!) * data[i + 3]!) / 255));
        const key = (r << 16) | (g << 8) | b;
        tally.set(key, (tally.get(key) ?? 0) + 1);
      }
    return tally;
  }

  /** A colour is on the way from one to another, off a straight line by no more than the browser's smoothing. */
  function between(colour: readonly number[], from: readonly number[], to: readonly number[]): boolean {
    const way = [0, 1, 2].map((c) => to[c]! - from[c]!);
    const long = Math.hypot(...way);
    if (long < 24) return false;
    const at = way.reduce((sum, w, c) => sum + w * (colour[c]! - from[c]!), 0) / long ** 2;
    const off = Math.hypot(...way.map((w, c) => colour[c]! - from[c]! - w * at));
    return at > 0.02 && at < 0.97 && off < long * 0.12 + 6;
  }

  function domTexts(root: HTMLElement): Text[] {
    const found: Text[] = [];
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      const element = node.parentElement!;
      if (node.textContent!.trim() === '' || element.closest('.hidden-text, title, dialog, select, .stage-coming')) continue;
      if (getComputedStyle(element).visibility === 'hidden' || element.checkVisibility({ opacityProperty: true }) === false) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      // A text that wraps is a rectangle for each of its lines.
      for (const line of range.getClientRects()) {
        const rect = clipped(line, element);
        if (rect.right - rect.left < 2 || rect.bottom - rect.top < 2) continue;
        found.push({ words: node.textContent!.trim(), colour: '', left: rect.left, right: rect.right, top: rect.top, bottom: rect.bottom });
      }
    }
    return found;
  }

  function clipped(rect: Rect, element: Element): Rect {
    let { left, right, top, bottom } = rect;
    for (let up: Element | null = element; up !== null; up = up.parentElement) {
      // What body hides, the window hides: a slide is larger than the sheet that it is laid out on.
      if (up === document.body) break;
      const { overflowX, overflowY } = getComputedStyle(up);
      const r = up.getBoundingClientRect();
      if (overflowX !== 'visible') [left, right] = [Math.max(left, r.left), Math.min(right, r.right)];
      if (overflowY !== 'visible') [top, bottom] = [Math.max(top, r.top), Math.min(bottom, r.bottom)];
    }
    return { left, right, top, bottom };
  }

  /** Words of the page that end at an edge where nothing scrolls and no tooltip has them whole. */
  function cutOff(): string[] {
    const found: string[] = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      const element = node.parentElement!;
      if (node.textContent!.trim() === '' || element.closest('.hidden-text, title, dialog, select, option, script, style, [title]')) continue;
      if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      const { left, right, top, bottom } = range.getBoundingClientRect();
      if (right - left < 2 || bottom - top < 2) continue;
      for (let up: Element | null = element; up !== null; up = up.parentElement) {
        const style = getComputedStyle(up);
        // What body hides, the window hides.
        if (up === document.body) continue;
        const r = up === document.documentElement ? { left: 0, right: innerWidth, top: 0, bottom: innerHeight } : up.getBoundingClientRect();
        const across = (/hidden|clip/.test(style.overflowX) || up === document.documentElement) && (right > r.right + 2 || left < r.left - 2);
        const down = /hidden|clip/.test(style.overflowY) && (bottom > r.bottom + 3 || top < r.top - 3);
        if (across || down) found.push(`${across ? 'across' : 'down'}: “${node.textContent!.trim().slice(0, 40)}” in .${up.className || up.tagName}`);
        // What scrolls can be read.
        if (across || down || /auto|scroll/.test(style.overflowX)) break;
      }
    }
    return found;
  }

  function overprinted(all: readonly Text[]): string[] {
    const found: string[] = [];
    all.forEach((a, i) => {
      for (const b of all.slice(i + 1)) {
        const [w, h] = [Math.min(a.right, b.right) - Math.max(a.left, b.left), Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top)];
        // Boxes of lines that stand close share a margin; letters do not.
        const margin = Math.min(a.bottom - a.top, b.bottom - b.top) / 4;
        if (w > 3 && h > Math.max(3, margin) && a.words !== b.words) found.push(`“${a.words.slice(0, 24)}” on “${b.words.slice(0, 24)}”`);
      }
    });
    return found.slice(0, 6);
  }

  /** Controls and bars that lie over what is seen of the picture. */
  function covered(root: HTMLElement): string[] {
    const picture = root.querySelector<HTMLElement>('.picture');
    if (picture === null) return [];
    const seen = clipped(picture.getBoundingClientRect(), picture);
    const parts = { knobs: '.desk-panel', transport: '.transport', title: '.top', sentence: '.sentence', 'way on': '.steps' };
    return Object.entries(parts).flatMap(([name, selector]) => {
      const r = document.querySelector(selector)?.getBoundingClientRect();
      if (r === undefined || r.right <= seen.left || r.left >= seen.right) return [];
      const deep = Math.min(r.bottom, seen.bottom) - Math.max(r.top, seen.top);
      return deep > 1 ? [`the ${name} covers the picture: ${Math.round(deep)} px`] : [];
    });
  }

  function hiddenBelow(lane: HTMLElement): boolean {
    const r = lane.getBoundingClientRect();
    const c = clipped(r, lane.parentElement!);
    return c.bottom - c.top < r.height - 4 || (!scrolls && r.bottom > innerHeight);
  }

  /** The widest band that nothing stands in, as a share. A thin thing fills no band: it takes 2 % of the way across. */
  function gap(all: readonly Rect[], within: Rect, from: 'left' | 'top', to: 'right' | 'bottom'): number {
    const cross = from === 'top' ? (['left', 'right'] as const) : (['top', 'bottom'] as const);
    const long = Math.ceil(within[to] - within[from]);
    const fill = new Float64Array(long + 1);
    for (const r of all) {
      const across = Math.min(r[cross[1]], within[cross[1]]) - Math.max(r[cross[0]], within[cross[0]]);
      if (across <= 0) continue;
      for (let i = Math.max(0, Math.floor(r[from] - within[from])); i < Math.min(long, r[to] - within[from]); i += 1) fill[i]! += across;
    }
    const least = (within[cross[1]] - within[cross[0]]) * 0.02;
    let [widest, run] = [0, 0];
    for (let i = 0; i < long; i += 1) {
      run = fill[i]! >= least ? 0 : run + 1;
      widest = Math.max(widest, run);
    }
    return widest / long;
  }
}

/** Of the open panel of knobs: what stands on what, what is cut off, and whether the picture is still there to be seen. */
export function knobFaults(): string[] {
  const panel = document.querySelector<HTMLElement>('.desk-panel')!;
  const box = panel.getBoundingClientRect();
  const found: string[] = [];
  interface Part {
    readonly name: string;
    readonly of: Element;
    readonly at: DOMRect;
  }
  const parts: Part[] = [...panel.querySelectorAll('input, select, button')].map((of) => ({
    name: of.getAttribute('aria-label') ?? of.textContent?.trim() ?? of.tagName,
    of,
    at: of.getBoundingClientRect(),
  }));
  const walker = document.createTreeWalker(panel, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const of = node.parentElement!;
    if (node.textContent!.trim() === '' || of.closest('.hidden-text, button, select') !== null) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const at of range.getClientRects()) parts.push({ name: node.textContent!.trim(), of, at });
  }
  parts.forEach((a, i) => {
    const { at, of, name } = a;
    if (at.left < box.left - 1 || at.right > box.right + 1) found.push(`beside the knobs: “${name.slice(0, 30)}”`);
    if (of instanceof HTMLInputElement && of.scrollWidth > of.clientWidth + 1) found.push(`cut in a field: ${of.value}`);
    for (const b of parts.slice(i + 1)) {
      if (b.of === of || b.of.contains(of) || of.contains(b.of)) continue;
      const [w, h] = [Math.min(at.right, b.at.right) - Math.max(at.left, b.at.left), Math.min(at.bottom, b.at.bottom) - Math.max(at.top, b.at.top)];
      if (w > 2 && h > 3) found.push(`“${name.slice(0, 24)}” on “${b.name.slice(0, 24)}”`);
    }
  });
  if (panel.scrollWidth > panel.clientWidth + 1) found.push(`the knobs are ${panel.scrollWidth - panel.clientWidth} px too wide`);
  const picture = document.querySelector('.lanes')?.getBoundingClientRect();
  const least = 200;
  if (picture !== undefined && picture.height < least) found.push(`the picture has ${Math.round(picture.height)} px beside the knobs`);
  if (picture !== undefined && Math.min(picture.bottom, box.bottom) - Math.max(picture.top, box.top) > 1) found.push('the knobs cover the picture');
  return found;
}
