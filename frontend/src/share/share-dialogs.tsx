// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * The dialog that shares a lesson, and the dialog for answers that a link brought. Their contents are loaded when a
 * dialog is opened.
 */

import { useState } from 'react';
import { t } from '../base/lang/t.ts';
import { later } from '../base/later.tsx';
import { shareKey } from '../controls/keyboard.ts';
import type { Answers } from '../panels/predict.ts';
import type { Lesson } from '../protocol/lesson.ts';
import { Dialog } from '../ui/dialog.tsx';
import type { LinkProps } from './share-sheet.tsx';

const waiting = () => <p role="status">{t('Loading…')}</p>;
const LinkPart = later(() => import('./share-sheet.tsx').then((m) => m.LinkPart), waiting);
const AnswersPart = later(() => import('./share-sheet.tsx').then((m) => m.AnswersPart), waiting);
const BroughtPart = later(() => import('./share-sheet.tsx').then((m) => m.BroughtPart), waiting);

interface ShareProps extends LinkProps {
  readonly lesson: Lesson;
  readonly answers: Answers;
  readonly open: boolean;
  readonly onClose: () => void;
}

/** Keys of a clicker, so that a speaker gets back to the slides without the keyboard. */
const clicker = ['PageDown', 'PageUp'];

export function ShareDialog({ lesson, answers, open, onClose, ...link }: ShareProps) {
  return (
    <Dialog
      title={link.slide ? t('Link to this moment') : t('Share')}
      side="wide"
      open={open}
      onClose={onClose}
      testId="share-dialog"
      closedBy={link.slide ? [...shareKey.keys, ...clicker] : shareKey.keys}
    >
      {link.slide ? <LinkPart {...link} /> : <Parts {...{ lesson, answers, link }} />}
    </Dialog>
  );
}

interface PartsProps {
  readonly lesson: Lesson;
  readonly answers: Answers;
  readonly link: LinkProps;
}

function Parts({ lesson, answers, link }: PartsProps) {
  const [shown, show] = useState<'moment' | 'answers'>('moment');
  const choice = (part: typeof shown, words: string) => (
    <button
      type="button"
      className="button"
      aria-pressed={shown === part}
      onClick={() => show(part)}
      data-testid={`share-${part}`}
    >
      {words}
    </button>
  );
  return (
    <>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset would need a legend that is seen */}
      <div className="segments share-choice" role="group" aria-label={t('What to share')}>
        {choice('moment', t('link to this moment'))}
        {choice('answers', t('my answers'))}
      </div>
      {shown === 'moment' ? <LinkPart {...link} /> : <AnswersPart {...{ lesson, answers }} />}
    </>
  );
}

interface BroughtProps {
  readonly lesson: Lesson;
  /** The part of the address that brings the answers. */
  readonly hash: string;
  readonly onClose: () => void;
}

export function BroughtDialog({ lesson, hash, onClose }: BroughtProps) {
  return (
    <Dialog title={t('Answers from another device')} open onClose={onClose} testId="brought-dialog">
      <BroughtPart {...{ lesson, hash }} />
    </Dialog>
  );
}
