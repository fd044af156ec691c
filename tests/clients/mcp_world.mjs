// Clients of the Model Context Protocol that others wrote, each in one era and over one transport.
//
//   const doors = await openDoors(server);    [{name, era, transport, client(), close()}]
//   const got = await call(client, 'get_run', {thread: 't'});    what the tool gave, an object; throws when it is an error
//
// `old` is @modelcontextprotocol/sdk (2025-11-25), `new` is @modelcontextprotocol/client (2026-07-28). On stdio a `pawl mcp` of the
// same folder is started for each client; it and the server share the store.

import {Client as OldClient} from '@modelcontextprotocol/sdk/client/index.js';
import {StdioClientTransport as OldStdio} from '@modelcontextprotocol/sdk/client/stdio.js';
import {StreamableHTTPClientTransport as OldHttp} from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {Client as NewClient, StreamableHTTPClientTransport as NewHttp} from '@modelcontextprotocol/client';
import {StdioClientTransport as NewStdio} from '@modelcontextprotocol/client/stdio';
import {Broken, holds} from './tap.mjs';

const WHO = {name: 'pawl-test', version: '1'};
const ANSWER_MAX = 25_000;

/** One client; where: {url, token, pawl, folder, words}. */
export async function connect(era, transport, where, options = {}) {
  const headers = where.token ? {Authorization: `Bearer ${where.token}`} : {};
  const stdio = {command: where.pawl, args: ['mcp', ...where.words ?? []], cwd: where.folder,
    env: {...process.env, ...where.env}, stderr: 'pipe'};
  const http = [new URL(where.url ?? 'http://none/'), {requestInit: {headers}}];
  const old = era === 'old';
  const client = old ? new OldClient(WHO, options)
    : new NewClient(WHO, {versionNegotiation: {mode: {pin: '2026-07-28'}}, ...options});
  const way = transport === 'stdio' ? new (old ? OldStdio : NewStdio)(stdio) : new (old ? OldHttp : NewHttp)(...http);
  let said = '';
  way.stderr?.on('data', bytes => { said += bytes; });
  await client.connect(way);
  client.said = () => said;
  return client;
}

export const ways = ['old', 'new'].flatMap(era => ['stdio', 'http'].map(transport => [era, transport]));

/** The answer of a tool as it came, bounded. */
export async function callAny(client, name, args = {}, options) {
  const result = await client.callTool({name, arguments: args}, ...client instanceof OldClient ? [undefined, options] : [options]);
  const size = Buffer.byteLength(JSON.stringify(result));
  holds(size <= ANSWER_MAX, `${name} answers with ${size} bytes`);
  return result;
}

export async function call(client, name, args, options) {
  const result = await callAny(client, name, args, options);
  if (result.isError) throw new Broken(`${name} ${JSON.stringify(args)}: ${result.content[0].text}`);
  holds(JSON.stringify(JSON.parse(result.content[0].text)) === JSON.stringify(result.structuredContent),
    `the text of ${name} is what its structuredContent is`);
  return result.structuredContent;
}

/** The sentence with which a tool says that it cannot. */
export async function refusal(client, name, args) {
  const result = await callAny(client, name, args);
  if (!result.isError) throw new Broken(`${name} ${JSON.stringify(args)} was no error: ${result.content[0].text.slice(0, 300)}`);
  return result.content[0].text;
}
