// SPDX-License-Identifier: GPL-2.0-or-later
/** Contents of the share dialogs: the link to a moment, the viewer's own answers, and answers that a link brought. */

import './share.css';
import { type ReactNode, useRef, useState } from 'react';
import { locale, t } from '../base/lang/t.ts';
import { siteOf } from '../base/site.ts';
import { type Answers, answersFile } from '../panels/predict.ts';
import { isRight, readRecap, rightWords, saveFile } from '../panels/recap/memory.ts';
import type { Lesson, QuizQuestion } from '../protocol/lesson.ts';
import { copiedMs, useCopy } from '../ui/parts.tsx';
import { answersLink, type Brought, hasAnswers, packAnswers, unpackAnswers } from './answers.ts';
import { QrCode, qrOf } from './qr.tsx';

// A QR code, or the reason that there is none.

/** Addresses that only this computer can open. */
const loopback = /^(localhost|127\.[\d.]+|\[::1\])$/;

/** Whether the page was opened as a file, so that nobody else can open its address. */
function ofFile(): boolean {
  return location.protocol === 'file:';
}

function Code({ link, label }: { readonly link: string; readonly label: string }) {
  const qr = ofFile() ? null : qrOf(link);
  if (qr !== null) return <QrCode qr={qr} label={label} />;
  return (
    <p className="share-none" role="note" data-testid="qr-none">
      {ofFile()
        ? t(
            'This page was opened as a file, so other devices cannot open its link. Put the folder on a web host.',
          )
        : t('This link is too long for a QR code that can be scanned. Copy it instead.')}
    </p>
  );
}

/** A warning if the page's address is one that means this computer, such as localhost. */
function OnlyHere() {
  const { hostname } = location;
  if (!loopback.test(hostname)) return null;
  return (
    <p className="small share-warning" data-testid="only-here">
      {t(
        'Other devices cannot reach {hostname}, which means this computer. Open this page at an address that they can reach.',
        { hostname },
      )}
    </p>
  );
}

// The link to the moment on the stage.

export interface LinkProps {
  /** The link to the moment; with `asks`, to the step's question, without the moment that would answer it. */
  readonly address: (asks: boolean) => string;
  /** Whether the step has a question; `now` if the question is open on this page. */
  readonly asks: 'never' | 'can' | 'now';
  /** Whether the dialog lies over a slide on a projector. */
  readonly slide: boolean;
}

export function LinkPart({ address, asks, slide }: LinkProps) {
  // The run may go on behind the dialog, so the link is made once.
  const [links] = useState(() => ({ moment: address(false), question: address(true) }));
  const [first, setFirst] = useState(asks === 'now');
  const link = first ? links.question : links.moment;
  const text = useRef<HTMLElement>(null);
  const [copied, copy] = useCopy(copiedMs);
  const copyOrSelect = async () => {
    await copy(link);
    if (text.current) getSelection()?.selectAllChildren(text.current);
  };
  return (
    <div className="share-part" data-slide={slide ? '' : undefined}>
      <Code link={link} label={t('QR code of this link')} />
      <div className="share-words">
        {!ofFile() && (
          <p className="share-lead">{t('Open it on your own device, and go at your own pace.')}</p>
        )}
        <p>
          <code className="share-text" ref={text} data-testid="share-text">
            {link}
          </code>
        </p>
        <p className="share-row">
          <button
            type="button"
            className="button"
            data-strong=""
            data-first=""
            onClick={() => void copyOrSelect()}
            data-testid="share-copy"
          >
            {copied === 'copied' ? t('link copied') : t('copy this link')}
          </button>
          <span className="small" role="status">
            {copied === 'refused' &&
              t('This browser does not let the page copy. The link is selected; copy it by hand.')}
          </span>
        </p>
        {asks !== 'never' && (
          <label className="share-asks">
            <input
              type="checkbox"
              checked={first}
              onChange={(event) => setFirst(event.target.checked)}
              data-testid="share-asks"
            />
            {t('Ask the step’s question first. The link then leaves out the moment.')}
          </label>
        )}
        <OnlyHere />
        <p className="small quiet" data-testid="no-follow">
          {siteOf() === null
            ? t(
                'Pages that are opened by this link do not follow yours; only those of a class do. There is no follow mode without a server.',
              )
            : t(
                'There is no follow mode without a server: pages that are opened by this link do not follow yours.',
              )}{' '}
          {!slide && staysHere()}
        </p>
      </div>
    </div>
  );
}

function staysHere(): string {
  return siteOf() === null
    ? t(
        'Outside a class or a lab, answers stay in the browser that they were given in, until somebody takes them out as a file or as a QR code.',
      )
    : t(
        'Answers stay in the browser that they were given in, until somebody takes them out as a file or as a QR code.',
      );
}

// The viewer's own answers, as a file and as a QR code.

interface AnswersProps {
  readonly lesson: Lesson;
  readonly answers: Answers;
}

export function AnswersPart({ lesson, answers }: AnswersProps) {
  const [{ given }] = useState(() => readRecap(lesson.slug));
  if (!hasAnswers(answers, given))
    return (
      <p data-testid="answers-none">
        {t('You have not answered anything in this lesson yet, so there is nothing to take away.')}
      </p>
    );
  const packed = packAnswers(lesson, answers, given);
  return (
    <div className="share-part">
      {packed === null ? (
        <p className="share-none">
          {t('Your answers are too long for a QR code. Take them away as a file.')}
        </p>
      ) : (
        <Code
          link={answersLink(lesson.slug, packed, location.href)}
          label={t('QR code of your answers')}
        />
      )}
      <div className="share-words">
        {packed !== null && !ofFile() && (
          <>
            <p className="share-lead">{t('Show this code to your teacher.')}</p>
            <p>
              {t(
                'A phone that scans the code opens this page and shows your predictions and the questions that you have answered. They stand after the # of the link; browsers send that part to no server.',
              )}
            </p>
            <p>{t('The code contains no name, and not the sentences that you wrote.')}</p>
          </>
        )}
        <p className="share-row">
          <button
            type="button"
            className="button"
            data-strong=""
            onClick={() => saveFile(`${lesson.slug}-answers.json`, answersFile(lesson, answers))}
            data-testid="answers-file"
          >
            {t('save my answers as a file')}
          </button>
        </p>
        <OnlyHere />
        <p className="small quiet">{staysHere()}</p>
      </div>
    </div>
  );
}

// Answers that a link brought from another device. They are shown and not stored.

interface BroughtProps {
  readonly lesson: Lesson;
  /** The part of the address from `#` on. */
  readonly hash: string;
}

export function BroughtPart({ lesson, hash }: BroughtProps) {
  const unpacked = unpackAnswers(hash, lesson);
  if (!unpacked.ok)
    return (
      <p role="alert" data-testid="brought-bad">
        {unpacked.why}
      </p>
    );
  return (
    <div className="brought" data-testid="brought">
      <p className="quiet">{lesson.title}</p>
      <Predictions lesson={lesson} brought={unpacked.answers} />
      <Pointed lesson={lesson} brought={unpacked.answers} />
      <Quiz lesson={lesson} brought={unpacked.answers} />
      <p className="small quiet">
        {t(
          'These answers came with the link; nobody has checked who gave them. The answers in this browser have not changed.',
        )}
      </p>
    </div>
  );
}

interface PartProps {
  readonly lesson: Lesson;
  readonly brought: Brought;
}

/** `open` is a prediction that no run has judged. */
type Verdict = 'right' | 'wrong' | 'open' | 'found' | 'none';

function verdictOf(guess: number | null, truth: number | null): Verdict {
  if (guess === null) return 'none';
  if (truth === null) return 'open';
  return guess === truth ? 'right' : 'wrong';
}

function Predictions({ lesson, brought }: PartProps) {
  const asked = Object.entries(lesson.predictions);
  const made = brought.predictions.filter(({ guess }) => guess !== null);
  const right = made.filter(({ guess, truth }) => guess === truth).length;
  return (
    <Listed
      title={t('Predictions: {n} of {all} made, {right} right', {
        n: made.length,
        all: asked.length,
        right,
      })}
      open
    >
      {asked.map(([id, { question, choices }], i) => {
        const { guess = null, truth = null } = brought.predictions[i] ?? {};
        const verdict = verdictOf(guess, truth);
        return (
          <Line key={id} ask={question} said={choices[guess ?? -1] ?? ''} verdict={verdict}>
            {verdict === 'wrong' &&
              t('The answer is: {choices}.', { choices: choices[truth ?? -1] })}
          </Line>
        );
      })}
    </Listed>
  );
}

function Pointed({ lesson, brought }: PartProps) {
  const n = brought.pointed.filter(Boolean).length;
  return (
    <Listed
      title={t('Questions answered by pointing: {n} of {all}', { n, all: brought.pointed.length })}
    >
      {lesson.questions.map(({ ask }, i) => (
        <Line
          key={ask}
          ask={ask}
          said={brought.pointed[i] ? t('A mark that answers the question was found.') : ''}
          verdict={brought.pointed[i] ? 'found' : 'none'}
        />
      ))}
    </Listed>
  );
}

function Quiz({ lesson, brought }: PartProps) {
  const verdicts = lesson.quiz.map((one, i): Verdict => {
    const given = brought.quiz[i] ?? null;
    if (given === null) return 'none';
    return isRight(one, given) ? 'right' : 'wrong';
  });
  const right = verdicts.filter((one) => one === 'right').length;
  return (
    <Listed
      title={t('Questions of the recap: {n} of {all} answered, {right} right', {
        n: verdicts.filter((one) => one !== 'none').length,
        all: verdicts.length,
        right,
      })}
    >
      {lesson.quiz.map((one, i) => {
        const verdict = verdicts[i] ?? 'none';
        return (
          <Line key={one.ask} ask={one.ask} said={saidTo(one, brought.quiz[i])} {...{ verdict }}>
            {verdict === 'wrong' && t('The answer is: {choices}.', { choices: rightWords(one) })}
          </Line>
        );
      })}
    </Listed>
  );
}

function saidTo({ choices, unit }: QuizQuestion, given: number | null | undefined): string {
  if (given === null || given === undefined) return '';
  if (choices.length > 0) return choices[given - 1] ?? '';
  return `${given.toLocaleString(locale())} ${unit}`.trim();
}

interface ListedProps {
  readonly title: string;
  readonly open?: boolean;
  readonly children: readonly ReactNode[];
}

function Listed({ title, open = false, children }: ListedProps) {
  if (children.length === 0) return null;
  return (
    <details open={open}>
      <summary>{title}</summary>
      <ul>{children}</ul>
    </details>
  );
}

interface LineProps {
  readonly ask: string;
  /** The answer in words; empty if there is none. */
  readonly said: string;
  readonly verdict: Verdict;
  /** The right answer, if the given answer is wrong. */
  readonly children?: ReactNode;
}

function Line({ ask, said, verdict, children }: LineProps) {
  return (
    <li data-verdict={verdict}>
      <p>{ask}</p>
      <p className="small">
        {verdict === 'none' ? (
          <span className="quiet">{t('No answer.')}</span>
        ) : (
          <>
            <b>{said}</b>
            {verdict !== 'found' && '. '}
            {verdictWords(verdict)} {children}
          </>
        )}
      </p>
    </li>
  );
}

function verdictWords(verdict: Verdict): string {
  if (verdict === 'right') return t('Yes, that is right.');
  if (verdict === 'wrong') return t('No, that is not right.');
  return verdict === 'open' ? t('No run has answered this prediction yet.') : '';
}
