// SPDX-License-Identifier: GPL-2.0-or-later
/** How students come into a class: link, QR code and three words, large enough for a projector. */

import { t } from '../base/lang/t.ts';
import { copiedMs, useCopy } from '../ui/parts.tsx';
import type { ClassFacts } from './class-state.ts';
import { QrCode } from './qr.tsx';

const loopback = /^(localhost|127\.|\[::1\])/;

/** The whole address of a class, below the page's own path. */
export function classLink({ link }: Pick<ClassFacts, 'link'>, here: string): string {
  const url = new URL(here);
  [url.search, url.hash] = [link, ''];
  return url.href;
}

export function Invite({ facts }: { readonly facts: ClassFacts }) {
  const link = classLink(facts, location.href);
  const [copied, copy] = useCopy(copiedMs);
  return (
    <div className="class-invite" data-testid="class-invite">
      <QrCode text={link} />
      <div>
        <p className="quiet">{t('Open the link, or type the code on the first page:')}</p>
        <p className="class-code" data-testid="class-code">
          {facts.code}
        </p>
        <p className="class-link">
          <a href={link} target="_blank" rel="noreferrer" data-testid="class-link">
            {link}
          </a>
        </p>
        <button type="button" className="button" onClick={() => copy(link)}>
          {copied === 'copied' ? t('link copied') : t('copy the link')}
        </button>
        {loopback.test(location.host) && (
          <p className="small quiet">
            {t(
              'This address works on this computer alone. For a class, start the server with --host and open the page by an address that students reach.',
            )}
          </p>
        )}
      </div>
    </div>
  );
}
