// SPDX-License-Identifier: GPL-2.0-or-later
/** A server that asks for tokens, in a real browser: links, cookies, and what each role sees. */

import { execFile } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, type Page, test } from '@playwright/test';
import { duet, type Listening, OwnServer } from './server.ts';

const server = new OwnServer('roles');
const env = { ...server.env, DUET_ACCESS: join(server.folder, 'access.json') };
const lesson = 'lesson=02-grace-periods&step=verdict';

let reported: Listening;
/** A page of another site with a link to the server. */
let elsewhere: Server;
let linked = '';

test.beforeAll(async () => {
  reported = await server.start(['--token-required'], '0', env);
  elsewhere = createServer((_, answer) => {
    answer.setHeader('content-type', 'text/html');
    answer.end(`<!doctype html><a href="${linked}">to the lesson</a>`);
  });
  await new Promise<void>((done) => elsewhere.listen(0, '127.0.0.1', done));
});

test.afterAll(async () => {
  elsewhere.close();
  await server.remove();
});

/** Another site than the one of the page that links to it. */
function local(address: string): string {
  return address.replace('127.0.0.1', 'localhost');
}

async function follow(page: Page, address: string) {
  linked = address;
  await page.goto(`http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/`);
  await page.getByRole('link').click();
}

test('a link on another site opens the page, once and again, and the token stays nowhere', async ({ page }) => {
  const sent: string[] = [];
  page.on('request', (request) => sent.push(`${request.url()} ${request.headers()['referer'] ?? ''}`));
  await follow(page, local(`${reported.links.student}&${lesson}`));
  await expect(page.getByTestId('stage')).toBeVisible();
  expect(page.url()).not.toContain('token');
  expect(page.url()).toContain('lesson=02-grace-periods');
  expect(await page.evaluate(() => `${document.referrer} ${document.cookie}`)).not.toContain('duet');
  expect(sent.filter((line) => line.includes('token='))).toHaveLength(1);
  const name = async () => (await page.context().cookies()).find((c) => c.name.startsWith('duet-'))?.value;
  const first = await name();
  await page.reload();
  await expect(page.getByTestId('stage')).toBeVisible();
  await follow(page, local(`${reported.url}?${lesson}`));
  await expect(page.getByTestId('stage')).toBeVisible();
  expect(await name()).toBe(first);
  await page.goBack();
  await expect(page.getByRole('link', { name: 'to the lesson' })).toBeVisible();
});

test('without a link a plain page says what is needed', async ({ page }) => {
  const answer = await page.goto(reported.url);
  expect(answer?.status()).toBe(401);
  await expect(page.getByRole('heading')).toHaveText('This page opens with a link');
  await follow(page, local(reported.url));
  await expect(page.getByRole('heading')).toHaveText('This page opens with a link');
  await page.goto(`${reported.url}?token=wrong`);
  await expect(page.getByRole('heading')).toHaveText('This link is not valid');
});

test('a student may run, only an instructor measure; a rotated link closes its pages alone', async ({ browser }) => {
  const open = async (role: keyof Reported['links']) => {
    const page = await (await browser.newContext()).newPage();
    await page.goto(`${reported.links[role]}&${lesson}`);
    await expect(page.getByTestId('stage')).toBeVisible();
    return page;
  };
  const [viewer, student, instructor] = await Promise.all([open('viewer'), open('student'), open('instructor')]);
  await expect(viewer.getByTestId('run')).toBeDisabled();
  await expect(viewer.getByTestId('blocked')).toContainText('A viewer may not start a live run');
  await expect(student.getByTestId('run')).toBeEnabled();
  await expect(student.getByTestId('measure-denied')).toContainText('A student may not measure');
  await expect(instructor.getByTestId('measure')).toBeEnabled();
  await promisify(execFile)(duet, ['token', 'rotate', '--role', 'student'], { env });
  await expect(student.getByTestId('connection')).toContainText('session is over');
  await expect(instructor.getByTestId('connection')).toBeHidden();
  await student.reload();
  await expect(student.getByRole('heading')).toHaveText('This page opens with a link');
  for (const page of [viewer, student, instructor]) await page.context().close();
});
