// SPDX-License-Identifier: GPL-2.0-or-later
/** The files that the lesson's patches touch, and in the open one the functions. */

import { t } from '../base/lang/t.ts';
import type { SourceFile } from '../protocol/contract.gen.ts';

interface Props {
  readonly files: readonly SourceFile[];
  readonly file: string;
  readonly changed: (name: string) => boolean;
  readonly onFile: (name: string) => void;
  readonly onRegion: (region: number) => void;
}

export function FilesBar({ files, file, changed, onFile, onRegion }: Props) {
  const open = files.find(({ name }) => name === file);
  const named = (open?.regions ?? []).flatMap((region, i) =>
    region.title === '' && open!.regions.length > 1 ? [] : [{ region, i }],
  );
  return (
    <div className="change-files">
      <div className="tabs" role="tablist" aria-label={t('Files that the patches touch')}>
        {files.map(({ name }) => (
          <button
            key={name}
            type="button"
            role="tab"
            className="tab"
            title={name}
            aria-selected={name === file}
            data-state={name === file ? 'active' : 'inactive'}
            onClick={() => onFile(name)}
          >
            <code>{name}</code>
            {changed(name) && (
              <span className="change-mark" title={t('changed by you')}>
                {' '}
                ●<span className="hidden-text"> {t('changed')}</span>
              </span>
            )}
          </button>
        ))}
      </div>
      {named.length > 0 && (
        <ul className="change-regions" aria-label={t('What the patches touch in {file}', { file })}>
          {named.map(({ region, i }) => (
            <li key={`${region.first} ${region.title}`}>
              <button type="button" className="link small" onClick={() => onRegion(i)}>
                <code>{region.title || t('line {first}', { first: region.first })}</code>
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
