// SPDX-License-Identifier: GPL-2.0-or-later
/** What pages show of classes. An exported site has site.tsx in its place. */

export { ClassArea } from './class-area.tsx';
export { ClassOverlay } from './class-overlay.tsx';
export { ClassGate, JoinOnFront } from './join.tsx';
export { PointMap } from './point-map.tsx';
export { ShownBar } from './shown-bar.tsx';
export { ClassButton } from './start.tsx';
