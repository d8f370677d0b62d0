// SPDX-License-Identifier: GPL-2.0-or-later
/** Store and socket put together. */

import { inLanguage } from '../base/lang/overlay.ts';
import { t } from '../base/lang/t.ts';
import { siteOf } from '../base/site.ts';
import type { ServerMessage } from '../protocol/messages.ts';
import { fetchedSegments } from '../protocol/segments.ts';
import { SiteSocket } from '../protocol/site-socket.ts';
import { openSocket, type Socket } from '../protocol/socket.ts';
import type { Store } from './store.ts';

/** A message with its lesson's texts in the visitor's language. */
function worded(message: ServerMessage): ServerMessage {
  if (message.type === 'lesson') return { ...message, lesson: inLanguage(message.lesson) };
  if (message.type === 'hello') return { ...message, lessons: message.lessons.map(inLanguage) };
  return message;
}

/** The socket of the server that the page came from; below the page's own path, as a proxy may have it. */
export function socketUrl(place: Pick<Location, 'href'>): string {
  const url = new URL('ws', place.href);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  return url.href;
}

/** Connects the store, to a server or to what lies beside the page; what comes back closes the connection. */
export function connect(store: Store, url: string = socketUrl(location)): Socket {
  const site = siteOf();
  const socket = openSocket({
    url,
    ...(site
      ? { makeSocket: () => new SiteSocket(site) as unknown as WebSocket }
      : { segments: fetchedSegments(location.href) }),
    onMessage: (message, tookMs) => store.dispatch(worded(message), tookMs),
    onConnection: (connection) => store.connection.set(connection),
    onComplaint: (sentence) =>
      store.complain({
        type: 'error',
        code: 'protocol',
        sentence,
        remedy: t('Reload the page; if it stays, page and server are of different versions.'),
        detail: '',
      }),
  });
  store.attach((message) => socket.send(message));
  // For benchmarks: how long messages took to decode, and events to come here.
  Object.assign(globalThis, { duetTiming: () => store.timing });
  return socket;
}
