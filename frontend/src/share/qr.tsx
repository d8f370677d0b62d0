// SPDX-License-Identifier: GPL-2.0-or-later
/** A QR code (ISO/IEC 18004) as one SVG path with its quiet zone, dark on white in every theme. */

import { encode } from 'uqr';

/** Width of the quiet zone, in modules. */
const quiet = 4;
/** The largest code is 117 modules wide and holds 997 characters. Finer codes cannot be scanned from a projector. */
const maxVersion = 25;

export interface Qr {
  /** The dark modules, one stroke per run of modules in a row. */
  readonly path: string;
  /** Width in modules, with the quiet zone. */
  readonly size: number;
}

/** The QR code of a text; null if the text is too long for a QR code. */
export function qrOf(text: string): Qr | null {
  try {
    const { data, size } = encode(text, { border: quiet, ecc: 'M', boostEcc: true, maxVersion });
    const path = data.flatMap((row, y) =>
      [
        ...row
          .map((dark) => (dark ? '1' : '0'))
          .join('')
          .matchAll(/1+/g),
      ].map(({ 0: { length }, index }) => `M${index} ${y}h${length}v1h-${length}z`),
    );
    return { path: path.join(''), size };
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

export function QrCode({ qr: { path, size }, label }: { readonly qr: Qr; readonly label: string }) {
  return (
    <svg
      className="qr"
      viewBox={`0 0 ${size} ${size}`}
      role="img"
      aria-label={label}
      shapeRendering="crispEdges"
      data-testid="qr"
    >
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
}

/** The QR code of a short text, such as the link of a class. */
export function TextQr({ text, label }: { readonly text: string; readonly label: string }) {
  const qr = qrOf(text);
  return qr === null ? null : <QrCode {...{ qr, label }} />;
}
