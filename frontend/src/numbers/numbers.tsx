// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * The page of a lesson without a picture. It shows the question, the arms with their patches, the text, and the command
 * that measures the lesson.
 */

import { useEffect, useMemo } from 'react';
import { noPicture } from '../base/first-picture.ts';
import { rich, t } from '../base/lang/t.ts';
import { Discussion } from '../panels/discussion.tsx';
import { measureCommand } from '../panels/mail.ts';
import { Notices } from '../panels/notices.tsx';
import { type PatchFile, parsePatch } from '../panels/patch.ts';
import { Inline, Prose } from '../panels/prose.tsx';
import { ThemeButton } from '../panels/top-bar.tsx';
import type { Arm, Metric, NumbersLesson } from '../protocol/lesson.ts';
import { copiedMs, Mark, useCopy } from '../ui/parts.tsx';
import './numbers.css';

// A command line with a button that copies it.

/** If the browser denies access to the clipboard, the viewer can select the command's text. */
function Command({ text }: { readonly text: string }) {
  const [copied, copy] = useCopy(copiedMs);
  return (
    <p className="command">
      <code>{text}</code>
      <button
        type="button"
        className="button"
        data-testid="copy-command"
        onClick={() => copy(text)}
      >
        {copied === 'copied' ? t('copied') : t('copy')}
      </button>
    </p>
  );
}

// Figures that mails claim, each with its context and source.

type PublishedFiguresProps = {
  readonly lesson: Pick<NumbersLesson, 'slug' | 'published' | 'mails'>;
};

function PublishedFigures({ lesson }: PublishedFiguresProps) {
  return (
    <section aria-labelledby="numbers-published">
      <h2 id="numbers-published">{t('What the mail claims')}</h2>
      <dl className="claims" data-testid="published">
        {lesson.published.map((figure) => (
          <div key={`${figure.claim} ${figure.mail}`}>
            <dt>{figure.claim}</dt>
            <dd className="number">{figure.mail}</dd>
            {figure.not_testable && (
              <dd className="quiet small">
                {t('not testable here: {why}', { why: figure.not_testable })}
              </dd>
            )}
          </div>
        ))}
      </dl>
      <ul className="quiet small" data-testid="mails">
        {Object.entries(lesson.mails).map(([name, mail]) => (
          <li key={name}>
            {mail.author}, {mail.date},{' '}
            {mail.url ? (
              <a href={mail.url} rel="noreferrer">
                {mail.subject}
              </a>
            ) : (
              mail.subject
            )}
          </li>
        ))}
      </ul>
      <p className="quiet small">
        {t(
          'These are the mail’s figures, not ours. This command compares each of them with ours and gives a verdict:',
        )}
      </p>
      <Command text={`${measureCommand(lesson.slug)} --published`} />
    </section>
  );
}

interface NumbersPageProps {
  readonly lesson: NumbersLesson;
  readonly onFront: () => void;
}

export function NumbersPage({ lesson, onFront }: NumbersPageProps) {
  useEffect(noPicture, []);
  const metrics = Object.entries(lesson.metrics).filter(([, m]) => !m.extra);
  return (
    <main className="front numbers" data-testid="numbers">
      <header>
        <a
          className="brand"
          href="?"
          onClick={(event) => {
            if (event.ctrlKey || event.metaKey || event.shiftKey) return;
            event.preventDefault();
            onFront();
          }}
        >
          <Mark /> Kernel Duet
        </a>
        <ThemeButton />
      </header>
      <p className="eyebrow">
        {t('Lesson {number}: {title}', {
          number: /^\d+/.exec(lesson.slug)?.[0],
          title: lesson.title,
        })}
      </p>
      <h1>{lesson.question}</h1>
      <p className="prose">{lesson.summary}</p>
      <Notices empty />
      <section className="card" aria-label={t('No picture yet')} data-testid="no-picture">
        <p>
          {rich(
            '<b>No picture yet.</b> So far this lesson has only numbers, which this command prints in a terminal:',
            { b: (words) => <b>{words}</b> },
          )}
        </p>
        <Command text={measureCommand(lesson.slug)} />
        <p className="quiet small">{clockWords(lesson)}</p>
      </section>

      <section aria-labelledby="numbers-arms">
        <h2 id="numbers-arms">{t('The kernels')}</h2>
        {lesson.arms.map((arm) => (
          <ArmCard key={arm.name} arm={arm} ready={lesson.ready[arm.name] ?? false} />
        ))}
      </section>

      {lesson.prose && (
        <section className="prose numbers-prose" aria-label={t('Text')} data-testid="prose">
          <Prose text={lesson.prose} />
        </section>
      )}

      {metrics.length > 0 && (
        <section aria-labelledby="numbers-metrics">
          <h2 id="numbers-metrics">{t('What is measured')}</h2>
          <table className="table" data-testid="metrics">
            <thead>
              <tr>
                <th scope="col">{t('number')}</th>
                <th scope="col">{t('unit')}</th>
                <th scope="col">{t('better')}</th>
                <th scope="col">{t('obtained from')}</th>
              </tr>
            </thead>
            <tbody>
              {metrics.map(([name, metric]) => (
                <tr key={name}>
                  <th scope="row">{metric.title}</th>
                  <td>{metric.unit === 'us' ? 'µs' : metric.unit}</td>
                  <td>{betterName(metric.better)}</td>
                  <td>{sourceWords(metric)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}

      {lesson.published.length > 0 && <PublishedFigures lesson={lesson} />}

      <Discussion slug={lesson.slug} discussion={lesson.discussion} />

      {lesson.caveats.length > 0 && (
        <section aria-labelledby="numbers-caveats">
          <h2 id="numbers-caveats">{t('What to keep in mind')}</h2>
          <ul className="numbers-caveats" data-testid="caveats">
            {lesson.caveats.map((caveat) => (
              <li key={caveat}>
                <Inline text={caveat} />
              </li>
            ))}
          </ul>
        </section>
      )}
    </main>
  );
}

function ArmCard({ arm, ready }: { readonly arm: Arm; readonly ready: boolean }) {
  return (
    <article className="arm-card" data-testid={`arm-${arm.name}`}>
      <h3>
        {arm.title} <span className="badge">{roleName(arm.role)}</span>{' '}
        {!ready && <span className="badge">{t('kernel not built yet')}</span>}
      </h3>
      <p>{arm.summary}</p>
      {arm.patch_texts.length === 0 ? (
        <p className="quiet small">
          {t('No patch of its own: the unmodified base kernel.')}{' '}
          {arm.writes.map((line) => (
            <code key={line}>{line}</code>
          ))}
        </p>
      ) : (
        arm.patch_texts.map((patch) => <PatchText key={patch.file} {...patch} />)
      )}
    </article>
  );
}

function PatchText({ file, subject, body, text }: Arm['patch_texts'][number]) {
  const files = useMemo(() => parsePatch(text), [text]);
  const added = files.reduce((sum, f) => sum + f.added, 0);
  const removed = files.reduce((sum, f) => sum + f.removed, 0);
  return (
    <details className="hunk patch-text">
      <summary>
        <span className="patch-subject">{subject || file}</span>
        <span className="quiet number">
          +{added} −{removed}
        </span>
      </summary>
      {body && <pre className="patch-body">{body}</pre>}
      {files.map((f) => (
        <FileText key={f.path} file={f} />
      ))}
    </details>
  );
}

function FileText({ file }: { readonly file: PatchFile }) {
  return (
    <div className="patch-file">
      <p className="patch-path">
        <code>{file.path}</code>
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls sideways, so keys must reach it */}
      <pre tabIndex={0}>
        {file.hunks.map((hunk, h) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: hunks of a patch never move
          <span key={h} className="hunk-lines">
            <span className="patch-line quiet">@@ {hunk.where}</span>
            {hunk.lines.map((line, i) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: lines of a hunk never move
              <span key={i} className="patch-line" data-sign={line.sign}>
                <i>{line.sign === '-' ? '−' : line.sign}</i>
                {line.text || ' '}
              </span>
            ))}
          </span>
        ))}
      </pre>
    </div>
  );
}

function clockWords({ clocks, clock }: NumbersLesson): string {
  const [only, other] = clocks;
  if (other === undefined)
    return t(
      'This lesson runs only on {clock, select, wall {the wall clock (untraced, repeated, with an interval)} other {the count clock (an instruction is a guest nanosecond, and a run repeats exactly)}}.',
      { clock: only ?? clock },
    );
  const second = clock === 'wall' ? 'count' : 'wall';
  return t(
    'This lesson runs on {clock, select, wall {the wall clock (untraced, repeated, with an interval)} other {the count clock (an instruction is a guest nanosecond, and a run repeats exactly)}}. With --clock {second}, the lesson runs on {second, select, wall {the wall clock (untraced, repeated, with an interval)} other {the count clock (an instruction is a guest nanosecond, and a run repeats exactly)}}.',
    { clock, second },
  );
}

function roleName(role: Arm['role']): string {
  return t(
    '{role, select, before {before} after {after} alternative {alternative} other {mainline}}',
    { role },
  );
}

function betterName(better: Metric['better']): string {
  return t('{better, select, higher {higher} lower {lower} other {neither}}', { better });
}

function sourceWords(metric: Metric): string {
  if (metric.dwarf) return t('the kernel’s own debug information (static)');
  return metric.line ? t('untraced runs') : t('counted events of a traced run');
}
