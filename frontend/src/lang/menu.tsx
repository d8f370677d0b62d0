// SPDX-License-Identifier: GPL-2.0-or-later
/** The small menu of languages. Each language is named by its own name, so that whoever reads it finds it. */

import { spoken, t } from '../base/lang/t.ts';
import { english, isPseudo, languages, type Tag, tagOf } from '../base/lang/tags.ts';
import { siteOf } from '../base/site.ts';
import { chooseLanguage } from './load.ts';

/** Of a language's tag. */
const shortLetters = 2;

/** A page without a server has the languages that its lesson has. */
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
      {/* In a hand there is no room for names: the list of the menu has them. */}
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
