// SPDX-License-Identifier: GPL-2.0-or-later
/** A measured table as the text of a mail, to the clipboard, or to the page where the browser has none to give. */

import { useState } from 'react';
import type { Lesson } from '../protocol/lesson.ts';
import type { MeasuredMessage } from '../protocol/messages.ts';
import { mailText } from './mail.ts';

export function CopyMail({ lesson, measured }: { lesson: Lesson; measured: MeasuredMessage }) {
  const [done, setDone] = useState<'no' | 'yes' | 'failed'>('no');
  const text = mailText(lesson, measured);
  return (
    <>
      <button
        type="button"
        className="button"
        data-testid="copy-mail"
        onClick={async () => {
          try {
            await navigator.clipboard.writeText(text);
            setDone('yes');
          } catch {
            setDone('failed');
          }
        }}
      >
        {done === 'yes' ? 'copied' : 'copy as mail'}
      </button>
      {done === 'failed' && (
        <pre className="console" data-testid="mail-text">
          {text}
        </pre>
      )}
    </>
  );
}
