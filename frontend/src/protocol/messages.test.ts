// SPDX-License-Identifier: GPL-2.0-or-later
/** What this page accepts and what the server says it sends must be one and the same. */

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { generateMessages } from '../../test/tools/messages-from-schema.ts';
import { schemaProtocol } from './messages.gen.ts';
import { protocolVersion, serverMessage } from './messages.ts';

const here = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8');

test('messages.gen.ts is what the schema says (npm run gen)', async () => {
  const text = await generateMessages(here('./messages.schema.json'));
  await expect(text).toMatchFileSnapshot('./messages.gen.ts');
});

test('both sides speak one version of the protocol', () => {
  expect(schemaProtocol).toBe(protocolVersion);
});

interface Shape {
  readonly properties: Record<string, { enum?: string[]; anyOf?: { enum?: string[] }[] }>;
}

const schema = JSON.parse(here('./messages.schema.json')) as {
  server: { discriminator: { mapping: Record<string, string> } };
  $defs: Record<string, Shape>;
};

const wire = Object.entries(schema.server.discriminator.mapping).map(
  ([type, ref]) => [type, schema.$defs[ref.replace('#/$defs/', '')]!] as const,
);

test('every message of the server has its check here, and no other', () => {
  const known = serverMessage.options.map((o) => [...o.shape.type.values][0]!);
  expect(known.toSorted()).toEqual(wire.map(([type]) => type).toSorted());
});

test.each(wire)('%s has the fields and the words that the server sends', (type, shape) => {
  const option = serverMessage.options.find((o) => o.shape.type.values.has(type as never))!;
  const fields = option.shape as Record<string, { options?: string[]; unwrap?: () => unknown }>;
  expect(Object.keys(fields).toSorted()).toEqual(Object.keys(shape.properties).toSorted());
  for (const [name, property] of Object.entries(shape.properties)) {
    if (property.enum === undefined) continue;
    let field = fields[name] as { options?: string[]; unwrap?: () => typeof field };
    while (field.options === undefined && field.unwrap !== undefined) field = field.unwrap();
    expect(field.options?.toSorted(), name).toEqual(property.enum.toSorted());
  }
});
