// SPDX-License-Identifier: GPL-2.0-or-later
/** Notices about problems: the state of the connection, and errors as sentences with a remedy. */

import { useState } from 'react';
import { t } from '../base/lang/t.ts';
import type { Arm } from '../protocol/lesson.ts';
import type { ErrorMessage } from '../protocol/messages.ts';
import type { Connection } from '../protocol/socket.ts';
import type { PhaseWords } from '../runs/phase.ts';
import { useConnection, useErrors } from '../store/hooks.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { CrossIcon } from '../ui/parts.tsx';
import { sentenceCase } from '../ui/words.ts';

/** @param empty whether the page has nothing to play yet */
export function Notices({ empty = false }: { readonly empty?: boolean }) {
  const connection = useConnection();
  const { list, dismiss } = useErrors();
  return <NoticeLines {...{ connection, empty }} errors={list} onDismiss={dismiss} />;
}

interface Props {
  readonly connection: Connection;
  readonly empty?: boolean;
  readonly errors: readonly ErrorMessage[];
  readonly onDismiss: (error: ErrorMessage) => void;
}

export function NoticeLines({ connection, empty = false, errors, onDismiss }: Props) {
  const words = connectionWords(connection, empty);
  if (!words && errors.length === 0) return null;
  return (
    <div className="notices" data-testid="notices">
      {words && (
        <p className="notice" data-calm role="status" data-testid="connection" data-volatile>
          {words}
        </p>
      )}
      {errors.slice(-3).map((error, i) => (
        <ErrorLine
          // biome-ignore lint/suspicious/noArrayIndexKey: errors have no name, and alike ones may follow
          key={i}
          error={error}
          onDismiss={() => onDismiss(error)}
        />
      ))}
    </div>
  );
}

/** One line about a missing connection. What the page has loaded stays usable. */
export function connectionWords(connection: Connection, empty = false): string {
  switch (connection.state) {
    case 'open':
    case 'connecting':
      return '';
    case 'retry':
      return [
        connection.reason,
        t('Reconnecting…'),
        empty
          ? t('If the server is not running, start it with “make run”.')
          : t('The data received so far can still be played.'),
      ].join(' ');
    case 'closed':
      return connection.reason;
  }
}

interface Failed {
  readonly arm: Arm;
  readonly phase: PhaseWords;
}

/** Errors of failed lanes and builds, with identical errors merged. The other lanes are shown below. */
export function LaneErrors({ failed }: { readonly failed: readonly Failed[] }) {
  const alike = new Map<string, [Failed, ...Failed[]]>();
  for (const one of failed) {
    const words = `${one.phase.sentence} ${one.phase.remedy}`;
    const others = alike.get(words);
    if (others) others.push(one);
    else alike.set(words, [one]);
  }
  if (failed.length === 0) return null;
  return (
    <div className="notices">
      {[...alike.values()].map((some) => (
        <p
          key={some[0].arm.name}
          className="notice"
          role="alert"
          data-testid={`error-${some[0].arm.name}`}
        >
          <CrossIcon />
          <span>
            <b>{some.map(({ arm }) => arm.title).join(', ')}</b>: {some[0].phase.sentence}{' '}
            <span className="quiet">{some[0].phase.remedy}</span>
          </span>
        </p>
      ))}
    </div>
  );
}

function ErrorLine({
  error,
  onDismiss,
}: {
  readonly error: ErrorMessage;
  readonly onDismiss: () => void;
}) {
  const [open, setOpen] = useState(false);
  return (
    <div className="notice" role="alert" data-testid="error">
      <CrossIcon />
      <span>
        {sentenceCase(error.sentence)} <span className="quiet">{error.remedy}</span>
      </span>
      <span className="spring" />
      {error.detail && (
        <button type="button" className="link" onClick={() => setOpen(true)}>
          {t('details')}
        </button>
      )}
      <button type="button" className="link" onClick={onDismiss}>
        {t('dismiss')}
      </button>
      <Dialog title={t('Details')} open={open} onClose={() => setOpen(false)} testId="details">
        <p>{sentenceCase(error.sentence)}</p>
        <p className="quiet">{error.remedy}</p>
        <pre className="console">{error.detail}</pre>
      </Dialog>
    </div>
  );
}
