// SPDX-License-Identifier: GPL-2.0-or-later
/** The terms of a lesson and of the page in texts: the first of each in a paragraph opens a card. */

import {
  createContext,
  type ReactNode,
  useContext,
  useEffect,
  useId,
  useMemo,
  useRef,
  useState,
} from 'react';
import type { Components } from 'react-markdown';
import type { Lesson } from '../../protocol/lesson.ts';
import { TermCard } from './card.tsx';
import { CardHost } from './host.ts';
import { type Matcher, matcherOf } from './matcher.ts';
import { withPageTerms } from './page-terms.ts';
import { markTerms } from './rehype.ts';

interface Known {
  readonly matcher: Matcher;
  readonly host: CardHost;
  /** The element that says what a term is, for screen readers. */
  readonly describes: (name: string) => string;
}

const Context = createContext<Known | null>(null);

interface Props {
  readonly lesson: Pick<Lesson, 'terms' | 'drawings'>;
  readonly children: ReactNode;
}

/** Texts inside it have cards; elsewhere the same texts are plain. */
export function TermsProvider({ lesson, children }: Props) {
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

/** A word that has a card. */
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

/** A sentence, or another short text that is a paragraph of its own. */
export function Terms({ text }: { readonly text: string }) {
  const known = useContext(Context);
  if (known === null) return text;
  return known.matcher.split(text, new Set()).map((piece) =>
    typeof piece === 'string' ? (
      piece
    ) : (
      // A term stands once in a paragraph, so that it stays the same button while the words around it change.
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

/** For react-markdown: marks terms, and draws the marks. */
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
