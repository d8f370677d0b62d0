// SPDX-License-Identifier: GPL-2.0-or-later
/** A lesson's picture on the front page: a recorded scene, still until it is pointed at. */

import { type AnchorHTMLAttributes, useEffect, useRef, useState } from 'react';
import { frontStep, readAnswers } from '../panels/predict.ts';
import { usePlayback } from '../playback/hooks.tsx';
import { useTheme } from '../ui/theme.ts';
import { LaneCanvas } from '../views/lane-canvas.tsx';
import { viewOf } from '../views/registry.ts';
import { Exhibit, type Shown } from './exhibit.tsx';

interface Props {
  readonly slug: string;
  /** The card is pointed at or has the focus. */
  readonly moving: boolean;
  /** Opens the lesson. */
  readonly link: CardLink;
}

export type CardLink = Required<Pick<AnchorHTMLAttributes<HTMLAnchorElement>, 'href' | 'onClick'>>;

/** Loads nothing before it is in view. */
export function Preview({ slug, moving, link }: Props) {
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
    // The card's question is the same link: one is enough for keys and screen readers.
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
              {(shown) => <Still {...shown} moving={moving} />}
            </Exhibit>
          </div>
        )}
      </a>
    </div>
  );
}

function Still({ lesson, scene, index, moving }: Shown & { readonly moving: boolean }) {
  const theme = useTheme();
  const { frame, goto, pause } = usePlayback();
  const view = viewOf(lesson.view);
  useEffect(() => {
    if (moving) goto(scene);
    else pause();
  }, [moving, scene, goto, pause]);
  return (
    <LaneCanvas
      view={view}
      runIndex={index}
      lesson={lesson}
      frame={frame}
      theme={theme}
      show={scene.show}
      header={(arm) => (
        <p className="preview-lane">{lesson.arms.find((a) => a.name === arm)?.title ?? arm}</p>
      )}
      headerHeight={22}
    />
  );
}
