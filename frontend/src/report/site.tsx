// SPDX-License-Identifier: GPL-2.0-or-later
/** In the place of entry.tsx in an exported site, which has no classes. */

export function ReportPage(_: { readonly classId: string }) {
  return null;
}
