// SPDX-License-Identifier: GPL-2.0-or-later
/** Trouble in calm lines: the connection, and errors as sentences with a remedy. */

import { useState } from 'react';
import type { ErrorMessage } from '../protocol/messages.ts';
import type { Connection } from '../protocol/socket.ts';
import { useConnection, useErrors } from '../store/hooks.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { CrossIcon } from '../ui/icons.tsx';
import { sentenceCase } from '../ui/words.ts';

export function Notices() {
  const connection = useConnection();
  const { list, dismiss } = useErrors();
  return <NoticeLines connection={connection} errors={list} onDismiss={dismiss} />;
}

interface Props {
  readonly connection: Connection;
  readonly errors: readonly ErrorMessage[];
  readonly onDismiss: (error: ErrorMessage) => void;
}

export function NoticeLines({ connection, errors, onDismiss }: Props) {
  const words = connectionWords(connection);
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

/** One line while there is no connection; what is on the page stays usable. */
export function connectionWords(connection: Connection): string {
  switch (connection.state) {
    case 'open':
    case 'connecting':
      return '';
    case 'retry':
      return `${connection.reason} Reconnecting… What is here stays and can be played.`;
    case 'closed':
      return connection.reason;
  }
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
          details
        </button>
      )}
      <button type="button" className="link" onClick={onDismiss}>
        dismiss
      </button>
      <Dialog title="Details" open={open} onClose={() => setOpen(false)} testId="details">
        <p>{sentenceCase(error.sentence)}</p>
        <p className="quiet">{error.remedy}</p>
        <pre className="console">{error.detail}</pre>
      </Dialog>
    </div>
  );
}
