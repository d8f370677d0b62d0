// SPDX-License-Identifier: GPL-2.0-or-later
/** A measured table as the text of a mail, to the clipboard, or to the page where the browser has none to give. */

import { t } from '../base/lang/t.ts';
import type { Lesson } from '../protocol/lesson.ts';
import type { MeasuredMessage } from '../protocol/messages.ts';
import { useCopy } from '../ui/parts.tsx';
import { mailText } from './mail.ts';

export function CopyMail({ lesson, measured }: { lesson: Lesson; measured: MeasuredMessage }) {
  const [copied, copy] = useCopy(null);
  const text = mailText(lesson, measured);
  return (
    <>
      <button type="button" className="button" data-testid="copy-mail" onClick={() => copy(text)}>
        {copied === 'copied' ? t('copied') : t('copy as mail')}
      </button>
      {copied === 'refused' && (
        <pre className="console" data-testid="mail-text">
          {text}
        </pre>
      )}
    </>
  );
}
