// SPDX-License-Identifier: GPL-2.0-or-later
/** The words of CodeMirror's own panels, which asks for them by its English ones. */

import { t } from '../base/lang/t.ts';

export const phrases: Readonly<Record<string, string>> = {
  Find: t('Find'),
  Replace: t('Replace'),
  next: t('next'),
  previous: t('previous'),
  all: t('all'),
  'match case': t('match case'),
  regexp: t('regexp'),
  'by word': t('by word'),
  replace: t('replace'),
  'replace all': t('replace all'),
  close: t('close'),
  'current match': t('current match'),
  'on line': t('on line'),
  'replaced match on line $': t('replaced match on line $'),
  'replaced $ matches': t('replaced $ matches'),
  'Go to line': t('Go to line'),
  go: t('go'),
  '$ unchanged lines': t('$ unchanged lines'),
  Diagnostics: t('Diagnostics'),
  'No diagnostics': t('No diagnostics'),
  'Control character': t('Control character'),
  'Selection deleted': t('Selection deleted'),
};
