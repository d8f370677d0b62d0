// SPDX-License-Identifier: GPL-2.0-or-later
/** A QR code as one path; its quiet zone belongs to it (ISO/IEC 18004). */

import { encode } from 'uqr';
import { t } from '../base/lang/t.ts';

const quiet = 4;

/** The dark modules of a text, as rows of one path. */
export function qrPath(text: string): { readonly path: string; readonly size: number } {
  const { data, size } = encode(text, { border: quiet, ecc: 'M' });
  const path = data.flatMap((row, y) =>
    row.flatMap((dark, x) => (dark ? [`M${x} ${y}h1v1h-1z`] : [])),
  );
  return { path: path.join(''), size };
}

export function QrCode({ text }: { readonly text: string }) {
  const { path, size } = qrPath(text);
  return (
    <svg
      className="class-qr"
      viewBox={`0 0 ${size} ${size}`}
      role="img"
      aria-label={t('QR code of the link')}
      shapeRendering="crispEdges"
      data-testid="class-qr"
    >
      <path d={path} />
    </svg>
  );
}
