// SPDX-License-Identifier: GPL-2.0-or-later
/** The types of every message, from the server's JSON schema. Pure. */

import { compile } from 'json-schema-to-typescript';

interface Node {
  [key: string]: unknown;
}

/** JSON schema has no bytes: a `binary` string is a Uint8Array here. Titles of plain fields would become types. */
function prepare(node: unknown, depth: number): unknown {
  if (Array.isArray(node)) return node.map((item) => prepare(item, depth + 1));
  if (node === null || typeof node !== 'object') return node;
  const source = node as Node;
  const result: Node = {};
  for (const [key, value] of Object.entries(source)) {
    if (key === 'title' && typeof value === 'string' && depth > 2) continue;
    if (key === 'discriminator') continue;
    result[key] = prepare(value, depth + 1);
  }
  if (source['format'] === 'binary') result['tsType'] = 'Uint8Array';
  return result;
}

/** The text of messages.gen.ts. */
export async function generateMessages(schemaText: string): Promise<string> {
  const schema = JSON.parse(schemaText) as Node;
  const root = {
    title: 'Messages',
    type: 'object',
    additionalProperties: false,
    required: ['server', 'client'],
    properties: {
      server: { title: 'ServerWire', ...(schema['server'] as Node) },
      client: { title: 'ClientWire', ...(schema['client'] as Node) },
    },
    $defs: prepare(schema['$defs'], 0),
  };
  for (const side of Object.values(root.properties)) delete (side as Node)['discriminator'];
  const body = await compile(root as never, 'Messages', {
    bannerComment: '',
    style: { singleQuote: true, printWidth: 100 },
    unreachableDefinitions: true,
  });
  return `// SPDX-License-Identifier: GPL-2.0-or-later\n/** Generated from messages.schema.json by \`npm run gen\`. Do not edit. */\n\nexport const schemaProtocol = ${JSON.stringify(schema['protocol'])};\n\n${body}`;
}
