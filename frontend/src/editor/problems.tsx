// SPDX-License-Identifier: GPL-2.0-or-later
/** Why a change does not run: a refusal, a patch that does not fit, what the compiler said of which line. */

import { t } from '../base/lang/t.ts';
import type { ChangedMessage, Problem } from '../protocol/messages.ts';
import { sentenceCase } from '../ui/words.ts';

interface Props {
  readonly changed: ChangedMessage;
  /** Whether the file can be shown. */
  readonly shown: (file: string) => boolean;
  readonly onGo: (problem: Problem) => void;
}

export function Problems({ changed, shown, onGo }: Props) {
  const { error, problems, phase, message } = changed;
  if (phase !== 'refused' && phase !== 'failed' && problems.length === 0) return null;
  const sentence = error?.sentence || message;
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  const warnings = problems.length - errors;
  const counts = [
    errors > 0 && t('{errors, plural, one {# error} other {# errors}}', { errors }),
    warnings > 0 && t('{warnings, plural, one {# warning} other {# warnings}}', { warnings }),
  ].filter(Boolean);
  return (
    <section
      className="change-problems"
      aria-label={t('Why it does not run')}
      data-testid="problems"
    >
      <div role="alert">
        {sentence && phase !== 'built' && <p>{sentenceCase(sentence)}</p>}
        {error?.remedy && <p className="quiet">{error.remedy}</p>}
        {counts.length > 0 && <p className="small quiet">{counts.join(', ')}</p>}
      </div>
      {problems.length > 0 && (
        <ul>
          {problems.map((problem) => {
            const { file, line, column, severity, text } = problem;
            const where = `${file}:${line}${column > 0 ? `:${column}` : ''}`;
            return (
              <li key={`${where} ${text}`} data-severity={severity}>
                {shown(file) ? (
                  <button type="button" className="link" onClick={() => onGo(problem)}>
                    <code>{where}</code>
                  </button>
                ) : (
                  <code>{where}</code>
                )}{' '}
                <b>{severity === 'error' ? t('error') : t('warning')}</b> {text}
              </li>
            );
          })}
        </ul>
      )}
      {error?.detail && problems.length === 0 && <pre className="console">{error.detail}</pre>}
    </section>
  );
}
