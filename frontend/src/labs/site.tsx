// SPDX-License-Identifier: GPL-2.0-or-later
/** In the place of entry.tsx in an exported site, which has no server: there are no labs. */

export function LabArea() {
  return null;
}

export function LabGate() {
  return null;
}

export function ScoresPage() {
  return null;
}
