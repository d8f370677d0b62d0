// SPDX-License-Identifier: GPL-2.0-or-later
/** How far the viewer got in all lessons, as this browser saved it, and as files. */

import { t } from '../../base/lang/t.ts';
import { cells, certificateJson, certificateSvg, columns, honest, rows } from './certificate.ts';
import type { Progress } from './memory.ts';
import { saveFile } from './save-file.ts';

interface Props {
  readonly all: Readonly<Record<string, Progress>>;
  /** ISO date. */
  readonly today: string;
}

export function CertificatePart({ all, today }: Props) {
  const name = 'kernel-duet-progress';
  return (
    <section className="recap-part" aria-label={t('Certificate')} data-testid="certificate">
      <h3>{t('Certificate of progress')}</h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls sideways on a phone, so keys must reach it */}
      <div className="certificate-box" tabIndex={0}>
        <table className="table small">
          <thead>
            <tr>
              <th scope="col">{t('lesson')}</th>
              {columns.map((title) => (
                <th key={title} scope="col">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows(all).map(([slug, one]) => (
              <tr key={slug}>
                <th scope="row">{one.title}</th>
                {cells(one).map((cell, i) => (
                  <td key={columns[i]}>{cell}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p className="small quiet">{honest}</p>
      <p className="certificate-links">
        <button
          type="button"
          className="button"
          onClick={() => saveFile(`${name}.svg`, certificateSvg(all, today), 'image/svg+xml')}
        >
          {t('as a picture (SVG)')}
        </button>
        <button
          type="button"
          className="button"
          onClick={() => saveFile(`${name}.json`, certificateJson(all, today))}
        >
          {t('as JSON')}
        </button>
      </p>
    </section>
  );
}
