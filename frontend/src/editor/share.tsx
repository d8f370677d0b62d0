// SPDX-License-Identifier: GPL-2.0-or-later
/** A change leaves the page as a link or a file, and comes in by a file. */

import { useRef, useState } from 'react';
import { t } from '../base/lang/t.ts';
import { formatCount } from '../base/units.ts';
import { saveFile } from '../panels/recap/memory.ts';
import { copiedMs, off, useCopy } from '../ui/parts.tsx';
import { linkChars, packChange } from './link.ts';
import { readPatch } from './read-patch.ts';

interface Props {
  readonly name: string;
  readonly arm: string;
  readonly diff: string;
  readonly address: () => string;
  readonly onText: (text: string) => void;
  readonly onReset: () => void;
}

const unchanged = t('Nothing is changed yet.');

export function Share({ name, arm, diff, address, onText, onReset }: Props) {
  const [copied, copy] = useCopy(copiedMs);
  const [said, setSaid] = useState('');
  const input = useRef<HTMLInputElement>(null);
  const link = async () => {
    const hash = await packChange({ arm, diff });
    setSaid(
      hash === null
        ? t(
            'A link holds {n} characters, and this change has more: download the patch and pass that on.',
            { n: formatCount(linkChars) },
          )
        : '',
    );
    if (hash !== null) await copy(address() + hash);
  };
  const take = async (file: File | undefined) => {
    if (!file) return;
    const text = await readPatch(file);
    setSaid(text === null ? t('{name} is no patch.', { name: file.name }) : '');
    if (text !== null) onText(text);
  };
  const none = diff === '' && unchanged;
  return (
    <div className="change-share">
      <button
        type="button"
        className="link small"
        onClick={() => void link()}
        data-testid="copy-change"
        {...off(none)}
      >
        {copied === 'copied'
          ? t('copied')
          : copied === 'refused'
            ? t('no clipboard here')
            : t('copy link')}
      </button>
      <button
        type="button"
        className="link small"
        onClick={() => saveFile(`${name}.patch`, diff, 'text/x-patch')}
        data-testid="download-change"
        {...off(none)}
      >
        {t('download .patch')}
      </button>
      <button
        type="button"
        className="link small"
        onClick={() => input.current?.click()}
        title={t('or drop it on the page')}
      >
        {t('open a .patch')}
      </button>
      <input
        ref={input}
        type="file"
        accept=".patch,.diff,.mbox,.txt"
        hidden
        aria-label={t('A patch file')}
        onChange={(event) => {
          void take(event.target.files?.[0]);
          event.target.value = '';
        }}
        data-testid="patch-file"
      />
      <button
        type="button"
        className="link small"
        onClick={onReset}
        data-testid="reset-change"
        {...off(none)}
      >
        {t("back to the arm's text")}
      </button>
      {said && (
        <p className="small" role="status" data-testid="share-said">
          {said}
        </p>
      )}
    </div>
  );
}
