// SPDX-License-Identifier: GPL-2.0-or-later
/** The language menu. It lists each language by its native name, such as "Deutsch" for German. */

import { spoken, t } from '../base/lang/t.ts';
import { english, isPseudo, languages, type Tag, tagOf } from '../base/lang/tags.ts';
import { siteOf } from '../base/site.ts';
import { chooseLanguage } from './load.ts';

/** Number of letters of a language tag in the narrow menu. */
const shortLetters = 2;

/** The languages in the menu. A page without a server offers only the languages of its lesson. */
function offered() {
  const parts = siteOf()?.parts;
  return languages.filter(({ tag }) => !parts || tag === english || `words-${tag}` in parts);
}

export function LanguageMenu() {
  const now: Tag = spoken();
  const choices = offered();
  if (choices.length < 2) return null;
  return (
    <span className="languages">
      {/* A phone has no room for full names here; the menu's list shows them. */}
      <span className="languages-short" aria-hidden="true">
        {now.slice(0, shortLetters).toUpperCase()} ▾
      </span>
      <select
        className="button"
        aria-label={t('Language')}
        data-testid="language"
        value={now}
        onChange={(event) => chooseLanguage(tagOf(event.target.value) ?? english)}
      >
        {isPseudo(now) && <option value={now}>{now}</option>}
        {choices.map(({ tag, name }) => (
          <option key={tag} value={tag} lang={tag}>
            {name}
          </option>
        ))}
      </select>
    </span>
  );
}
