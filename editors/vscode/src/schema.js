/* What a JSON Schema says of a place in a document (yaml.js): which keys may stand there, which values, and what they mean. It
 * knows the words that `pawl schema` writes, and takes of alternatives all that can still be meant. Pure.
 */
'use strict';

/**
 * @typedef {Record<string, any>} Schema
 * @typedef {{name: string, about: string, required: boolean, holds: 'scalar' | 'map' | 'list', choices: boolean}} Key
 */

const DEPTH = 32; // of references in references

/**
 * The alternatives that a schema is made of, for an object with these scalars.
 * @param {Schema} root
 * @param {Schema} schema
 * @param {Map<string, string>} scalars
 * @returns {Schema[]}
 */
function alternatives(root, schema, scalars, depth = 0) {
  if (!schema || typeof schema !== 'object' || depth > DEPTH) return [];
  const all = [schema];
  const add = (/** @type {Schema} */ s) => all.push(...alternatives(root, s, scalars, depth + 1));
  const name = /^#\/\$defs\/(.+)$/.exec(schema.$ref ?? '')?.[1];
  if (name && root.$defs?.[name]) add(root.$defs[name]);
  for (const word of ['allOf', 'anyOf', 'oneOf']) (schema[word] ?? []).forEach(add);
  if (schema.if) add(holds(schema.if, scalars) ? schema.then : schema.else);
  return all;
}

/**
 * @param {Schema} condition {properties: {KEY: {const | enum}}}
 * @param {Map<string, string>} scalars
 */
function holds(condition, scalars) {
  return Object.entries(condition.properties ?? {}).every(([key, wanted]) => {
    const has = scalars.get(key);
    return has !== undefined && (wanted.enum ?? [wanted.const]).map(String).includes(has);
  });
}

/**
 * The alternatives for what is at the end of a path.
 * @param {Schema} root
 * @param {(string | number)[]} path
 * @param {Map<string, string>[]} levels the scalars of each object on the way, and of the one at its end
 */
function schemasAt(root, path, levels) {
  const none = new Map();
  let now = alternatives(root, root, levels[0] ?? none);
  path.forEach((step, i) => {
    const scalars = levels[i + 1] ?? none;
    const inside = now.map(s => typeof step === 'number' ? s.items : s.properties?.[step] ?? (
      typeof s.additionalProperties === 'object' ? s.additionalProperties : null));
    now = inside.flatMap(s => alternatives(root, s, scalars));
  });
  return now;
}

/**
 * @param {Schema[]} schemas
 * @returns {'scalar' | 'map' | 'list'}
 */
function kindOf(schemas) {
  const types = new Set(schemas.flatMap(s => s.type ?? []));
  const scalar = ['string', 'number', 'integer', 'boolean'].some(t => types.has(t)) ||
    schemas.some(s => s.enum || s.const !== undefined || (s.description && !s.type && !s.properties && !s.$ref && !s.anyOf));
  return scalar ? 'scalar' : types.has('array') ? 'list' : types.has('object') ? 'map' : 'scalar';
}

/**
 * The keys that may stand in an object.
 * @param {Schema} root
 * @param {Schema[]} schemas
 * @returns {Key[]}
 */
function keysOf(root, schemas) {
  /** @type {Map<string, Key>} */
  const keys = new Map();
  for (const s of schemas) {
    for (const [name, schema] of Object.entries(s.properties ?? {})) {
      if (keys.has(name)) continue;
      const inside = alternatives(root, schema, new Map());
      keys.set(name, {
        name,
        about: schema.description ?? inside.find(x => x.description)?.description ?? '',
        required: schemas.some(x => x.required?.includes(name)),
        holds: kindOf(inside),
        choices: inside.some(x => x.enum || x.type === 'boolean'),
      });
    }
  }
  return [...keys.values()];
}

/**
 * The values that a scalar may have, where they can be told.
 * @param {Schema[]} schemas
 * @returns {string[]}
 */
function valuesOf(schemas) {
  const values = schemas.flatMap(s => [
    ...(s.enum ?? []), ...(s.const === undefined ? [] : [s.const]), ...(s.type === 'boolean' ? [true, false] : []),
    ...(s.default === undefined || typeof s.default === 'object' ? [] : [s.default]),
  ]);
  return [...new Set(values.map(String))];
}

/** What is said of the place, or ''. @param {Schema[]} schemas */
function aboutOf(schemas) {
  return schemas.find(s => s.description)?.description ?? '';
}

/** Whether a list stands there. @param {Schema[]} schemas */
function isList(schemas) {
  return schemas.some(s => s.items);
}

module.exports = {aboutOf, isList, keysOf, schemasAt, valuesOf};
