// SPDX-License-Identifier: GPL-2.0-or-later
/** In the place of entry.tsx in an exported site, which has no server: there are no classes. */

export function ClassArea(_: { readonly page: unknown; readonly notes: unknown }) {
  return null;
}

export function ClassOverlay() {
  return null;
}

export function ClassGate() {
  return null;
}

export function JoinOnFront() {
  return null;
}

export function ClassButton() {
  return null;
}

export function PointMap(_: { readonly shown: string | null }) {
  return null;
}

export function ShownBar(_: { readonly lesson: unknown; readonly place: unknown }) {
  return null;
}
