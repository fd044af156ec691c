// The types of the API, from the OpenAPI document that the server gives; nobody writes them.
//
//   node types.mjs OPENAPI.json OUT.d.ts
//
// Each named shape is a type of that name, and Operations has what each operation takes and gives.

import {readFileSync, writeFileSync} from 'node:fs';

const [document, out] = process.argv.slice(2);
const api = JSON.parse(readFileSync(document, 'utf8'));

const key = name => /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name);

function object(schema) {
  const needed = new Set(schema.required ?? []);
  const fields = Object.entries(schema.properties ?? {})
    .map(([name, one]) => `${key(name)}${needed.has(name) ? '' : '?'}: ${type(one)}`);
  const more = schema.additionalProperties;
  const open = !schema.properties ? `Record<string, ${more && more !== true ? type(more) : 'unknown'}>` : null;
  if (open) return open;
  if (more && typeof more === 'object') fields.push(`[key: string]: ${type(more)}`);
  return fields.length ? `{${fields.join('; ')}}` : 'Record<string, never>';
}

function type(schema) {
  if (schema === true || !schema) return 'unknown';
  if (schema.$ref) return schema.$ref.split('/').pop();
  if ('const' in schema) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map(one => JSON.stringify(one)).join(' | ');
  const any = schema.anyOf ?? (schema.properties ? null : schema.oneOf);
  if (any) return any.map(type).map(one => one.includes('|') ? `(${one})` : one).join(' | ');
  if (Array.isArray(schema.type)) return schema.type.map(one => type({...schema, type: one})).join(' | ');
  switch (schema.type) {
    case 'object': return object(schema);
    case 'array': return schema.items ? `(${type(schema.items)})[]` : 'unknown[]';
    case 'integer': case 'number': return 'number';
    case 'string': return 'string';
    case 'boolean': return 'boolean';
    case 'null': return 'null';
    default: return 'unknown';
  }
}

const lines = ['// Made by types.mjs from the OpenAPI document of the server.', ''];
for (const [name, schema] of Object.entries(api.components.schemas)) {
  lines.push(`export type ${name} = ${type(schema)};`);
}
const operations = new Map();
for (const path of Object.values(api.paths)) {
  for (const row of Object.values(path)) {
    if (!row.operationId || operations.has(row.operationId)) continue;
    const body = row.requestBody?.content?.['application/json']?.schema;
    const args = {properties: {...body?.properties}, required: [...body?.required ?? []]};
    for (const one of row.parameters ?? []) {
      if (one.in === 'header') continue;
      args.properties[one.name] = one.schema;
      if (one.required) args.required.push(one.name);
    }
    const answer = (row.responses['200'] ?? row.responses['201'])?.content?.['application/json']?.schema;
    operations.set(row.operationId, `{args: ${object(args)}; answer: ${answer ? type(answer) : 'unknown'}}`);
  }
}
lines.push('', 'export interface Operations {');
for (const [name, row] of operations) lines.push(`  ${name}: ${row};`);
lines.push('}', '');
writeFileSync(out, lines.join('\n'));
