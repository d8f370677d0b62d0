// SPDX-License-Identifier: GPL-2.0-or-later
/** The front page. It lists the lessons, each with its question and the state of its kernels. */

import { type AnchorHTMLAttributes, useEffect, useRef, useState } from 'react';
import { inLanguage } from '../base/lang/overlay.ts';
import { rich, t } from '../base/lang/t.ts';
import { LanguageMenu } from '../lang/menu.tsx';
import { lessonAddress } from '../navigation/place.ts';
import { measureCommand } from '../panels/mail.ts';
import { Notices } from '../panels/notices.tsx';
import { askingSteps, frontStep, readAnswers } from '../panels/predict.ts';
import { Inline } from '../panels/prose.tsx';
import { ThemeButton } from '../panels/top-bar.tsx';
import { Slot } from '../plugins.tsx';
import { check, either } from '../protocol/check.ts';
import { readNumbersLesson, readPictureLesson } from '../protocol/contract.checks.gen.ts';
import type { Lesson, NumbersLesson } from '../protocol/lesson.ts';
import { SavedOnHome } from '../runs/saved-runs.tsx';
import { useConnection, useHello } from '../store/hooks.tsx';
import { Mark } from '../ui/parts.tsx';
import { day } from '../ui/words.ts';
import { Exhibit, ExhibitLanes } from './exhibit.tsx';
import { Doors, OpeningPicture, openingLesson } from './opening.tsx';

// A lesson's picture on the front page. It is a recorded scene, which plays while the pointer is over it.

interface Props {
  readonly slug: string;
  /** Whether the pointer is over the card, or the card has the focus. */
  readonly moving: boolean;
  /** A link that opens the lesson. */
  readonly link: CardLink;
}

type CardLink = Required<Pick<AnchorHTMLAttributes<HTMLAnchorElement>, 'href' | 'onClick'>>;

/** Loads the recording only when the card is in view. */
function Preview({ slug, moving, link }: Props) {
  const box = useRef<HTMLAnchorElement>(null);
  const [seen, setSeen] = useState(false);
  useEffect(() => {
    if (box.current === null || seen) return;
    const observer = new IntersectionObserver((entries) => {
      if (entries.some((e) => e.isIntersecting)) setSeen(true);
    });
    observer.observe(box.current);
    return () => observer.disconnect();
  }, [seen]);
  return (
    // Hidden from keyboard and screen readers, because the question on the card links to the same lesson.
    <div className="preview-link" aria-hidden="true">
      <a
        ref={box}
        className="preview"
        data-testid={`preview-${slug}`}
        href={link.href}
        onClick={link.onClick}
        tabIndex={-1}
      >
        {seen && (
          <div className="preview-picture" inert>
            <Exhibit slug={slug} pick={(lesson) => frontStep(lesson, readAnswers(slug))}>
              {(shown) => <ExhibitLanes {...shown} moving={moving} />}
            </Exhibit>
          </div>
        )}
      </a>
    </div>
  );
}

/** Details of a lesson that the server's greeting does not contain. The page requests them once per lesson. */
type More = Partial<
  Pick<
    Lesson | NumbersLesson,
    'summary' | 'arms' | 'caveats' | 'ready' | 'published' | 'mails' | 'recordings'
  >
> &
  Partial<Pick<Lesson, 'scenes' | 'predictions' | 'hero'>>;

export function Front({ onOpen }: { readonly onOpen: (slug: string) => void }) {
  const hello = useHello();
  const more = useMore(hello?.lessons.map(({ slug }) => slug) ?? none);
  const opening = openingLesson(hello?.lessons.map(({ slug }) => [slug, more[slug] ?? null]) ?? []);
  const first = hello?.lessons[0]?.slug;
  const connection = useConnection();
  return (
    <main className="front" data-list data-testid="front">
      <header>
        <span className="brand">
          <Mark /> Kernel Duet
        </span>
        <span className="front-tools">
          <LanguageMenu />
          <ThemeButton />
        </span>
      </header>
      <p className="lead">
        {t(
          'Real Linux kernels that differ by one patch run the same work, side by side. Watch why one of them is faster.',
        )}
      </p>
      {!hello && (
        <p className="quiet" role="status">
          {connection.state === 'closed' && connection.reason
            ? connection.reason
            : connection.state === 'retry' || connection.state === 'closed'
              ? t('The server does not answer. Start it with “make run”; this page will find it.')
              : t('Looking for the lessons…')}
        </p>
      )}
      <div className="opening-place">{opening !== null && <OpeningPicture slug={opening} />}</div>
      {hello && first !== undefined && <Doors first={first} count={hello.lessons.length} />}
      {hello && <Notices empty />}
      {hello && <Slot part="OnHome" given={{}} />}
      <ul className="lessons">
        {hello?.lessons.map((lesson) => (
          <Card key={lesson.slug} {...lesson} more={more[lesson.slug] ?? null} onOpen={onOpen} />
        ))}
      </ul>
      {hello && <SavedOnHome titles={hello.lessons} />}
      {hello && hello.role !== 'operator' && (
        <p className="quiet small" data-testid="role">
          {t(
            'You opened this page as {role, select, instructor {an instructor} other {a {role}}}.',
            {
              role: hello.role,
            },
          )}
          {hello.denied.run && ` ${t('You may watch runs and play recordings.')}`}
        </p>
      )}
    </main>
  );
}

interface CardProps {
  readonly slug: string;
  readonly title: string;
  readonly question: string;
  readonly available: boolean;
  readonly picture: boolean;
  /** Details of the lesson; null until they have loaded. */
  readonly more: More | null;
  readonly onOpen: (slug: string) => void;
}

function Card({ slug, title, question, available, picture, more, onOpen }: CardProps) {
  const usual = more?.arms?.filter((a) => !a.optional) ?? [];
  const ready = usual.filter((a) => more?.ready?.[a.name]).length;
  const all = usual.length;
  const minutes = more?.scenes?.reduce((sum, scene) => sum + (scene.minutes ?? 0), 0) ?? 0;
  const recorded = more?.recordings?.[0]?.recorded_at;
  const [pointed, setPointed] = useState(false);
  const shown = picture && (more?.recordings?.length ?? 0) > 0;
  const link: CardLink = {
    href: lessonAddress(slug),
    onClick: (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      onOpen(slug);
    },
  };
  return (
    <li
      className="lesson-card"
      data-testid={`lesson-${slug}`}
      data-picture={picture}
      onPointerEnter={() => setPointed(true)}
      onPointerLeave={() => setPointed(false)}
      onFocus={() => setPointed(true)}
      onBlur={() => setPointed(false)}
    >
      <span className="ordinal number">{/^\d+/.exec(slug)?.[0]}</span>
      <div>
        <h2>
          <a {...link}>{question}</a>
        </h2>
        <p>
          <b>{title}.</b> {more?.summary}
        </p>
        {more?.published?.[0] && <Headline {...more} slug={slug} />}
        {!picture && more && <Numbers {...more} slug={slug} />}
        <p className="states">
          {minutes > 0 && (
            <span className="badge">{t('about {minutes} minutes', { minutes })}</span>
          )}
          {(more?.recordings?.length ?? 0) > 0 && (
            <span className="badge" data-tone="recorded">
              {recorded
                ? t('recording of {day} plays immediately', { day: day(recorded) })
                : t('recording plays immediately')}
            </span>
          )}
          <span className="badge">
            {all > 0
              ? ready === all
                ? t('{all} kernels built', { all })
                : t('{ready} of {all} kernels built', { ready, all })
              : available
                ? t('kernels built')
                : t('kernels not built yet')}
          </span>
        </p>
      </div>
      {shown && <Preview {...{ slug, link }} moving={pointed} />}
    </li>
  );
}

/**
 * The first published figure with its source. If the lesson asks for a prediction, the figure and the source are
 * hidden until the viewer clicks.
 */
function Headline({ slug, published, mails, scenes, predictions }: More & { slug: string }) {
  const [wanted, setWanted] = useState(false);
  const first = published?.[0];
  if (!first) return null;
  const asks = scenes && predictions && askingSteps({ scenes, predictions }, readAnswers(slug));
  if (!wanted && asks && asks.length > 0)
    return (
      <p className="headline">
        <button
          type="button"
          className="link"
          onClick={() => setWanted(true)}
          data-testid={`headline-${slug}`}
        >
          {t('Show the figure from the kernel mailing list')}
        </button>{' '}
        <span className="quiet small">{t('(the lesson asks you first)')}</span>
      </p>
    );
  const url = mails?.[first.link ?? Object.keys(mails)[0] ?? '']?.url;
  return (
    <p className="headline">
      {rich('<a>The mail</a> says: {claim}, <b>{mail}</b>.', {
        a: (words) =>
          url ? (
            <a href={url} rel="noreferrer">
              {words}
            </a>
          ) : (
            words
          ),
        claim: first.claim,
        mail: first.mail,
        b: (words) => <b className="number">{words}</b>,
      })}
    </p>
  );
}

/** The content of a card for a lesson that has no picture. */
function Numbers({ slug, arms, caveats }: More & { readonly slug: string }) {
  return (
    <>
      <p className="no-picture">
        {rich('<b>No picture yet:</b> the command <code>{slug}</code> prints its numbers', {
          b: (words) => <b>{words}</b>,
          slug: measureCommand(slug),
          code: (words) => <code>{words}</code>,
        })}
      </p>
      <dl className="arm-list">
        {arms?.map((arm) => (
          <div key={arm.name}>
            <dt>{arm.title}</dt>
            <dd>{arm.summary}</dd>
          </div>
        ))}
      </dl>
      {caveats && caveats.length > 0 && (
        <details className="card-caveats">
          <summary>
            {t('{caveats, plural, one {# caveat} other {# caveats}}', { caveats: caveats.length })}
          </summary>
          <ul>
            {caveats.map((caveat) => (
              <li key={caveat}>
                <Inline text={caveat} />
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

const readLesson = either<Lesson, NumbersLesson>(readPictureLesson, readNumbersLesson);

const none: readonly string[] = [];

/** Requests the details of lessons, and returns those that have arrived, by slug. */
function useMore(slugs: readonly string[]): Readonly<Record<string, More | null>> {
  const [more, setMore] = useState<Readonly<Record<string, More | null>>>({});
  const key = slugs.join();
  useEffect(() => {
    const stop = new AbortController();
    for (const slug of key.split(',').filter(Boolean))
      fetch(`api/lessons/${encodeURIComponent(slug)}`, { signal: stop.signal })
        .then((answer) => (answer.ok ? (answer.json() as Promise<unknown>) : null))
        .then(
          (tree) => {
            const checked = check(readLesson, tree);
            const lesson = checked.ok ? inLanguage(checked.value) : null;
            setMore((known) => ({ ...known, [slug]: lesson }));
          },
          () => {},
        );
    return () => stop.abort();
  }, [key]);
  return more;
}
