// SPDX-License-Identifier: GPL-2.0-or-later
// Service worker of an exported site. It stores all files of the site, so that the site works without a network.
//
// `export/site.py` writes this file as sw.js, and puts a line `const site = {version, lasting, changing}` before it.
// Another export has another version, and so its own cache. Names in `lasting` contain a hash of the content, so a
// stored file is always right. Files in `changing` are asked from the host first.

const prefix = `duet-site ${registration.scope} `;
const store = prefix + site.version;
/** Some hosts redirect index.html to the folder, and a redirect does not answer a navigation. */
const index = './';

async function fill() {
  const cache = await caches.open(store);
  const names = site.changing.map((name) => (name === 'index.html' ? index : name));
  await cache.addAll([
    ...site.lasting,
    ...names.map((name) => new Request(name, { cache: 'no-cache' })),
  ]);
}

async function removeOthers() {
  for (const name of await caches.keys())
    if (name.startsWith(prefix) && name !== store) await caches.delete(name);
}

async function answer(request, name) {
  const cache = await caches.open(store);
  const stored = () => cache.match(name === 'index.html' ? index : name, { ignoreVary: true });
  if (site.lasting.includes(name)) return (await stored()) ?? fetch(request);
  try {
    return await fetch(request);
  } catch (offline) {
    const found = await stored();
    if (found === undefined) throw offline;
    return found;
  }
}

addEventListener('install', (event) => event.waitUntil(fill()));
addEventListener('activate', (event) => event.waitUntil(removeOthers()));
addEventListener('fetch', (event) => {
  const { request } = event;
  const [url] = request.url.split(/[?#]/);
  if (request.method !== 'GET' || !url.startsWith(registration.scope)) return;
  const name = url.slice(registration.scope.length) || 'index.html';
  if (site.lasting.includes(name) || site.changing.includes(name))
    event.respondWith(answer(request, name));
});
