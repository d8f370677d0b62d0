// SPDX-License-Identifier: GPL-2.0-or-later
/** A change leaves the page as a link or a file, and comes in by a file. */

import { useRef, useState } from 'react';
import { saveFile } from '../panels/recap/save-file.ts';
import { off } from '../ui/off.ts';
import { copiedMs, useCopy } from '../ui/use-copy.ts';
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

const unchanged = 'Nothing is changed yet.';

export function Share({ name, arm, diff, address, onText, onReset }: Props) {
  const [copied, copy] = useCopy(copiedMs);
  const [said, setSaid] = useState('');
  const input = useRef<HTMLInputElement>(null);
  const link = async () => {
    const hash = await packChange({ arm, diff });
    setSaid(
      hash === null
        ? `A link holds ${linkChars.toLocaleString('en')} characters, and this change has more: download the patch and pass that on.`
        : '',
    );
    if (hash !== null) await copy(address() + hash);
  };
  const take = async (file: File | undefined) => {
    if (!file) return;
    const text = await readPatch(file);
    setSaid(text === null ? `${file.name} is no patch.` : '');
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
        {copied === 'copied' ? 'copied' : copied === 'refused' ? 'no clipboard here' : 'copy link'}
      </button>
      <button
        type="button"
        className="link small"
        onClick={() => saveFile(`${name}.patch`, diff, 'text/x-patch')}
        data-testid="download-change"
        {...off(none)}
      >
        download .patch
      </button>
      <button
        type="button"
        className="link small"
        onClick={() => input.current?.click()}
        title="or drop it on the page"
      >
        open a .patch
      </button>
      <input
        ref={input}
        type="file"
        accept=".patch,.diff,.mbox,.txt"
        hidden
        aria-label="A patch file"
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
        back to the arm's text
      </button>
      {said && (
        <p className="small" role="status" data-testid="share-said">
          {said}
        </p>
      )}
    </div>
  );
}
