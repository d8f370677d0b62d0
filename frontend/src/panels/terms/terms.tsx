// SPDX-License-Identifier: GPL-2.0-or-later
/** Terms of a lesson and of the page. Their first occurrence in a paragraph opens a card. */

import {
  createContext,
  createElement,
  memo,
  type ReactNode,
  useContext,
  useEffect,
  useId,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react';
import { createPortal } from 'react-dom';
import type { Components } from 'react-markdown';
import { t } from '../../base/lang/t.ts';
import type { Lesson, Term } from '../../protocol/lesson.ts';
import type { ClockName } from '../../protocol/messages.ts';

// Rebuilds a term's drawing element by element, so that the drawing can neither run scripts nor load anything.
// Only shapes, text and presentation attributes are copied, so the drawing cannot be styled from outside.
// The server refuses drawings with other elements too (lessons/drawings.py).

const elements = new Set([
  ...['g', 'path', 'rect', 'circle', 'ellipse', 'line', 'polyline', 'polygon', 'text', 'tspan'],
]);
const attributes = new Set([
  ...['d', 'x', 'y', 'x1', 'y1', 'x2', 'y2', 'cx', 'cy', 'r', 'rx', 'ry', 'dx', 'dy', 'width'],
  ...['height', 'points', 'transform', 'fill', 'stroke', 'stroke-width', 'stroke-dasharray'],
  ...['stroke-linecap', 'stroke-linejoin', 'opacity', 'text-anchor', 'font-size', 'font-weight'],
  ...['font-style', 'font-family'],
]);
const plain = /^[A-Za-z0-9\s.,()+-]*$/;

interface Drawn {
  readonly title: string;
  readonly box: string;
  readonly parts: readonly ReactNode[];
}

/** Convert a drawing to parts that React can render; null if it is not valid SVG. */
export function drawn(svg: string): Drawn | null {
  const root = new DOMParser().parseFromString(svg, 'image/svg+xml').documentElement;
  const box = root.getAttribute('viewBox') ?? '';
  if (root.localName !== 'svg' || !plain.test(box)) return null;
  const title = [...root.children].find((child) => child.localName === 'title');
  return { title: title?.textContent?.trim() ?? '', box, parts: [...root.children].map(part) };
}

function part(element: Element, key: number): ReactNode {
  if (!elements.has(element.localName)) return null;
  const looks = [...element.attributes].filter(
    ({ name, value }) => attributes.has(name) && plain.test(value),
  );
  const props = Object.fromEntries(looks.map(({ name, value }) => [camel(name), value]));
  const children = [...element.childNodes].map((node, i) =>
    node.nodeType === 3 ? node.textContent : node.nodeType === 1 ? part(node as Element, i) : null,
  );
  return createElement(element.localName, { ...props, key }, ...children);
}

const camel = (name: string) => name.replaceAll(/-([a-z])/g, (_all, c: string) => c.toUpperCase());

export const Drawing = memo(({ svg }: { readonly svg: string }) => {
  const found = useMemo(() => drawn(svg), [svg]);
  if (found === null) return null;
  return (
    <svg className="term-drawing" viewBox={found.box} role="img" aria-label={found.title}>
      {found.parts}
    </svg>
  );
});
Drawing.displayName = 'Drawing';

// Which card is open, and when cards open and close. Only one card is open at a time.

interface Shown {
  readonly name: string;
  readonly anchor: HTMLElement;
  /** Whether a click or a tap opened the card; it then stays open when the pointer leaves. */
  readonly pinned: boolean;
}

const openMs = 160;
/** Delay before a card closes, ms; long enough to move the pointer from the word to its card. */
const closeMs = 220;

class CardHost {
  private shown: Shown | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly listeners = new Set<() => void>();

  readonly current = (): Shown | null => this.shown;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /** The mouse entered the word. */
  point(name: string, anchor: HTMLElement): void {
    this.later(openMs, () => {
      if (this.shown?.anchor !== anchor) this.set({ name, anchor, pinned: false });
    });
  }

  /** The keyboard focused the word. */
  focus(name: string, anchor: HTMLElement): void {
    this.stay();
    this.set({ name, anchor, pinned: false });
  }

  /** The first click pins the card, and the second click closes it. */
  click(name: string, anchor: HTMLElement): void {
    this.stay();
    const again = this.shown?.anchor === anchor && this.shown.pinned;
    this.set(again ? null : { name, anchor, pinned: true });
  }

  /** The mouse left the word or its card. */
  leave(): void {
    this.later(closeMs, () => {
      if (!this.shown?.pinned) this.set(null);
    });
  }

  /** Cancel a pending opening or closing. */
  stay(): void {
    clearTimeout(this.timer);
  }

  /** The word has lost the focus or was unmounted. */
  gone(anchor: HTMLElement | null): void {
    if (anchor !== null && this.shown?.anchor === anchor) this.close();
  }

  close(): void {
    this.stay();
    if (this.shown !== null) this.set(null);
  }

  private later(ms: number, act: () => void): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(act, ms);
  }

  private set(shown: Shown | null): void {
    this.shown = shown;
    for (const listener of this.listeners) listener();
  }
}

// Position of a card: below or above its word, inside the window, and never over the word.

export interface Rect {
  readonly left: number;
  readonly top: number;
  readonly bottom: number;
}

interface Spot {
  readonly left: number;
  readonly top: number;
  /** Height of the card; if neither side has enough room for it, the card scrolls. */
  readonly height: number;
}

const gap = 7;
const edge = 8;

/** Compute the position of a card. All lengths are CSS pixels; `view` is the window's size. */
export function spotOf(
  word: Rect,
  card: { readonly width: number; readonly height: number },
  view: { readonly width: number; readonly height: number },
): Spot {
  const left = Math.max(edge, Math.min(word.left, view.width - edge - card.width));
  const below = view.height - edge - (word.bottom + gap);
  const above = word.top - gap - edge;
  const under = below >= card.height || below >= above;
  const height = Math.max(0, Math.min(card.height, under ? below : above));
  return { left, top: under ? word.bottom + gap : word.top - gap - height, height };
}

// The card of a term, with a drawing and definition. Esc or a click outside the card closes it.

interface TermCardProps {
  readonly host: CardHost;
  readonly terms: ReadonlyMap<string, Term>;
  readonly drawings: Lesson['drawings'];
}

function TermCard({ host, terms, drawings }: TermCardProps) {
  const shown = useSyncExternalStore(host.subscribe, host.current);
  const term = shown && terms.get(shown.name);
  if (!shown || !term) return null;
  return <Card key={term.name} {...{ host, shown, term }} svg={drawings[term.name] ?? ''} />;
}

interface CardProps {
  readonly host: CardHost;
  readonly shown: Shown;
  readonly term: Term;
  readonly svg: string;
}

function Card({ host, shown, term, svg }: CardProps) {
  const card = useRef<HTMLDivElement>(null);
  const spot = useSpot(host, shown.anchor, card);
  useClosing(host, shown, card);
  return createPortal(
    <div
      ref={card}
      role="tooltip"
      className="term-card"
      data-testid="term-card"
      style={spot ? { left: spot.left, top: spot.top, maxHeight: spot.height } : undefined}
      data-placed={spot ? '' : undefined}
      onPointerEnter={() => host.stay()}
      onPointerLeave={() => host.leave()}
    >
      {svg && <Drawing svg={svg} />}
      <p>
        <b>{term.name}</b> {term.says}
      </p>
    </div>,
    document.body,
  );
}

/** Moves the card with its word when the page scrolls, and closes it when the word is out of sight. */
function useSpot(
  host: CardHost,
  anchor: HTMLElement,
  card: React.RefObject<HTMLElement | null>,
): Spot | null {
  const [spot, setSpot] = useState<Spot | null>(null);
  useLayoutEffect(() => {
    const place = () => {
      const word = anchor.getBoundingClientRect();
      const view = { width: innerWidth, height: innerHeight };
      if (word.bottom < 0 || word.top > view.height) return host.close();
      const own = card.current;
      if (own)
        setSpot(spotOf(word, { width: own.offsetWidth, height: own.scrollHeight + 2 }, view));
    };
    place();
    addEventListener('scroll', place, { capture: true, passive: true });
    addEventListener('resize', place);
    return () => {
      removeEventListener('scroll', place, { capture: true });
      removeEventListener('resize', place);
    };
  }, [host, anchor, card]);
  return spot;
}

/** Handles Escape before other listeners, so that it closes the card and nothing else. */
function useClosing(host: CardHost, shown: Shown, card: React.RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const key = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return;
      event.stopPropagation();
      event.preventDefault();
      host.close();
    };
    const press = ({ target }: PointerEvent) => {
      const at = target instanceof Node ? target : null;
      if (!card.current?.contains(at) && !shown.anchor.contains(at)) host.close();
    };
    addEventListener('keydown', key, { capture: true });
    addEventListener('pointerdown', press, { capture: true });
    return () => {
      removeEventListener('keydown', key, { capture: true });
      removeEventListener('pointerdown', press, { capture: true });
    };
  }, [host, shown, card]);
}

// Finds a lesson's terms in a text. The server's lint uses the same rule (lessons/view.py).

/** A piece of a text: either plain text or a term. */
export type Piece = string | { readonly name: string; readonly text: string };

interface Matcher {
  readonly terms: ReadonlyMap<string, Term>;
  /**
   * Split a text so that the first occurrence of each term is a piece of its own. Terms in `seen` are skipped, and
   * found terms are added to `seen`.
   */
  readonly split: (text: string, seen: Set<string>) => readonly Piece[];
}

export function matcherOf(terms: readonly Term[]): Matcher | null {
  const owner = new Map<string, string>();
  for (const term of terms)
    for (const form of [term.name, ...term.also]) owner.set(form.toLowerCase(), term.name);
  if (owner.size === 0) return null;
  const forms = terms.flatMap((term) => [term.name, ...term.also]);
  const longestFirst = forms.toSorted((a, b) => b.length - a.length).map(either);
  const any = new RegExp(`(?<![\\w-])(?:${longestFirst.join('|')})(?![\\w-])`, 'g');
  return {
    terms: new Map(terms.map((term) => [term.name, term])),
    split: (text, seen) => {
      const pieces: Piece[] = [];
      let from = 0;
      for (const { 0: found, index } of text.matchAll(any)) {
        const name = owner.get(found.replaceAll(/\s+/g, ' ').toLowerCase());
        if (name === undefined || seen.has(name)) continue;
        seen.add(name);
        if (index > from) pieces.push(text.slice(from, index));
        pieces.push({ name, text: found });
        from = index + found.length;
      }
      if (from < text.length) pieces.push(text.slice(from));
      return pieces;
    },
  };
}

/**
 * A pattern for a term. If the term begins in lower case, it also matches with a capital letter, as at the start of a
 * sentence. A space also matches a line break.
 */
function either(form: string): string {
  const [first = '', ...rest] = form;
  const small = first !== first.toUpperCase();
  const tail = rest
    .join('')
    .replaceAll(/[-.*+?^$|()[\]{}\\]/g, '\\$&')
    .replaceAll(' ', '\\s+');
  return `${small ? `[${first}${first.toUpperCase()}]` : first}${tail}`;
}

// Marks terms in Markdown: the first occurrence in a paragraph becomes a `dfn` element, whose title is the term's name.

/** The fields of an HTML tree node that this code uses. */
export interface MarkdownNode {
  type: string;
  tagName?: string;
  value?: string;
  properties?: Record<string, unknown>;
  children?: MarkdownNode[];
}

/** Elements that start a new paragraph. Other elements inside a list item belong to its paragraph. */
const paragraphs = new Set(['p', 'li', 'td', 'th']);
/** Elements in which terms are not marked: code is quoted text, and links and headings serve another purpose. */
const left = new Set(['code', 'pre', 'a', 'h1', 'h2', 'h3', 'h4']);

export function markTerms(matcher: Matcher) {
  const marked = (children: readonly MarkdownNode[], seen: Set<string>): MarkdownNode[] =>
    children.flatMap((child) => {
      if (child.type === 'text') return pieces(child.value ?? '', seen);
      if (child.children && !left.has(child.tagName ?? '')) {
        const own = paragraphs.has(child.tagName ?? '') ? new Set<string>() : seen;
        child.children = marked(child.children, own);
      }
      return [child];
    });
  const pieces = (text: string, seen: Set<string>): MarkdownNode[] =>
    matcher.split(text, seen).map((piece) =>
      typeof piece === 'string'
        ? { type: 'text', value: piece }
        : {
            type: 'element',
            tagName: 'dfn',
            properties: { title: piece.name },
            children: [{ type: 'text', value: piece.text }],
          },
    );
  return () => (tree: MarkdownNode) => {
    tree.children = marked(tree.children ?? [], new Set());
  };
}

// Terms of the page itself, as in docs/GLOSSARY.md. A lesson's term of the same name replaces the page's.

const page = (name: string, says: string, ...also: string[]): Term => ({
  ...{ name, also, says },
  ...{ drawing: '', entry: false, shared: false },
});

const terms: readonly Term[] = [
  page(
    t('arm'),
    t(
      'One kernel of a lesson: a base, its patches, a role (before, after, alternative, mainline) and a short name such as "SRCU".',
    ),
    t('arms'),
  ),
  page(
    t('lane'),
    t('An arm while it runs: one guest, its stream of events, and its row or column on the page.'),
    t('lanes'),
  ),
  page(
    t('count clock'),
    t(
      'Guest time follows executed instructions, one nanosecond each. A run repeats exactly, but it says nothing about caches.',
    ),
  ),
  page(
    t('wall clock'),
    t('Guest time follows the time of day, so results depend on how busy the host is.'),
  ),
];

/** The terms of a lesson, and the page's terms that the lesson does not define. */
export function withPageTerms(own: readonly Term[]): readonly Term[] {
  const taken = new Set(own.flatMap(({ name, also }) => [name, ...also]));
  const free = terms.filter(({ name, also }) => ![name, ...also].some((form) => taken.has(form)));
  return [...own, ...free];
}

interface Known {
  readonly matcher: Matcher;
  readonly host: CardHost;
  /** Returns the id of the element with a term's definition, for screen readers. */
  readonly describes: (name: string) => string;
}

const Context = createContext<Known | null>(null);

interface TermsProviderProps {
  readonly lesson: Pick<Lesson, 'terms' | 'drawings'>;
  readonly children: ReactNode;
}

/** Provides term cards for the texts inside. Outside this component, the texts are plain. */
export function TermsProvider({ lesson, children }: TermsProviderProps) {
  const id = useId();
  const [host] = useState(() => new CardHost());
  const terms = useMemo(() => withPageTerms(lesson.terms), [lesson.terms]);
  const known = useMemo<Known | null>(() => {
    const matcher = matcherOf(terms);
    const numbers = new Map(terms.map((term, i) => [term.name, i]));
    return matcher && { matcher, host, describes: (name) => `${id}${numbers.get(name)}` };
  }, [terms, host, id]);
  return (
    <Context.Provider value={known}>
      {children}
      {known && (
        <>
          <dl hidden>
            {terms.map((term) => (
              <div key={term.name} id={known.describes(term.name)}>
                <dt>{term.name}</dt>
                <dd>{term.says}</dd>
              </div>
            ))}
          </dl>
          <TermCard host={host} terms={known.matcher.terms} drawings={lesson.drawings} />
        </>
      )}
    </Context.Provider>
  );
}

interface MarkProps {
  readonly name: string;
  readonly children?: ReactNode;
}

/** A word that opens a card. */
export function TermMark({ name, children }: MarkProps) {
  const known = useContext(Context);
  const word = useRef<HTMLButtonElement>(null);
  const host = known?.host;
  useEffect(() => {
    const anchor = word.current;
    return () => host?.gone(anchor);
  }, [host]);
  if (known === null || host === undefined) return children;
  return (
    <button
      ref={word}
      type="button"
      className="term"
      data-testid="term"
      aria-describedby={known.describes(name)}
      onPointerEnter={(e) => e.pointerType === 'mouse' && host.point(name, e.currentTarget)}
      onPointerLeave={(e) => e.pointerType === 'mouse' && host.leave()}
      onFocus={(e) => e.target.matches(':focus-visible') && host.focus(name, e.currentTarget)}
      onBlur={(e) => host.gone(e.currentTarget)}
      onClick={(e) => host.click(name, e.currentTarget)}
    >
      {children}
    </button>
  );
}

interface ClockTermProps {
  readonly clock: ClockName;
  readonly children: ReactNode;
}

/** The name of a run's clock, which opens a card that explains this clock. */
export function ClockTerm({ clock, children }: ClockTermProps) {
  return (
    <TermMark name={clock === 'count' ? t('count clock') : t('wall clock')}>{children}</TermMark>
  );
}

/** A sentence, or another short text that counts as one paragraph. */
export function Terms({ text }: { readonly text: string }) {
  const known = useContext(Context);
  if (known === null) return text;
  return known.matcher.split(text, new Set()).map((piece) =>
    typeof piece === 'string' ? (
      piece
    ) : (
      // The React key is the term, which occurs only once. So the button survives changes of the words around it.
      <TermMark key={piece.name} name={piece.name}>
        {piece.text}
      </TermMark>
    ),
  );
}

interface MarkedMarkdown {
  readonly rehypePlugins: ReturnType<typeof markTerms>[];
  readonly components: Components;
}

/** The plug-in and the components with which react-markdown marks terms. */
export function useMarked(): MarkedMarkdown {
  const matcher = useContext(Context)?.matcher;
  return useMemo(
    () => ({ rehypePlugins: matcher ? [markTerms(matcher)] : [], components }),
    [matcher],
  );
}

const components: Components = {
  dfn: ({ children, title = '' }) => <TermMark name={title}>{children}</TermMark>,
};
