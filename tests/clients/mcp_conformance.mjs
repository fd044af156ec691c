// The official conformance suite of the Model Context Protocol against a server, in both eras, and the official inspector. Prints TAP.
//
//   tests/clients/run mcp_conformance.mjs PAWL
//
// The suite is written for a server of its own, with tools, prompts and resources of certain names. A scenario that asks for
// those cannot be passed by any other server: it is counted here as not applicable, with the reason. What is left must pass,
// and a scenario that is in neither list fails, so that a newer suite is looked at.

import {execFile} from 'node:child_process';
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join, resolve} from 'node:path';
import {Broken, holds, runAll, same} from './tap.mjs';
import {withServer} from './server.mjs';

const PAWL = resolve(process.argv[2]);
const PACKAGES = resolve(import.meta.dirname, 'node_modules/@modelcontextprotocol');

const TOOL = 'calls a tool that only the server of the suite has';
const PROMPT = 'gets a prompt that only the server of the suite has';
const RESOURCE = 'reads a resource that only the server of the suite has (test://)';
const ASKS = 'needs a tool that asks the client back, and no tool here does';
const NOT_APPLICABLE = {
  'completion-complete': PROMPT, 'prompts-get-simple': PROMPT, 'prompts-get-with-args': PROMPT,
  'prompts-get-embedded-resource': PROMPT, 'prompts-get-with-image': PROMPT,
  'tools-call-simple-text': TOOL, 'tools-call-image': TOOL, 'tools-call-audio': TOOL, 'tools-call-embedded-resource': TOOL,
  'tools-call-mixed-content': TOOL, 'tools-call-with-logging': TOOL, 'tools-call-error': TOOL, 'tools-call-with-progress': TOOL,
  'json-schema-2020-12': TOOL, 'http-custom-header-server-validation': `${TOOL} (with x-mcp-header)`,
  'resources-read-text': RESOURCE, 'resources-read-binary': RESOURCE, 'resources-templates-read': RESOURCE,
  'resources-subscribe': RESOURCE, 'resources-unsubscribe': RESOURCE,
  'tools-call-sampling': ASKS, 'tools-call-elicitation': ASKS, 'elicitation-sep1034-defaults': ASKS, 'elicitation-sep1330-enums': ASKS,
  'input-required-result-basic-elicitation': ASKS, 'input-required-result-basic-sampling': ASKS,
  'input-required-result-basic-list-roots': ASKS, 'input-required-result-request-state': ASKS,
  'input-required-result-multiple-input-requests': ASKS, 'input-required-result-multi-round': ASKS,
  'input-required-result-non-tool-request': ASKS, 'input-required-result-result-type': ASKS,
  'input-required-result-tampered-state': ASKS, 'input-required-result-capability-check': ASKS,
};
// Of a scenario that applies: how many of its checks want a tool of the suite (test_missing_capability and the like).
const CHECKS_LEFT_OUT = {'server-stateless': 4};
const MUST_PASS = {
  '2025-11-25': ['server-initialize', 'server-session-lifecycle', 'logging-set-level', 'ping', 'tools-list', 'server-sse-polling',
    'server-sse-multiple-streams', 'resources-list', 'prompts-list', 'dns-rebinding-protection'],
  '2026-07-28': ['server-stateless', 'tools-list', 'server-sse-multiple-streams', 'resources-list', 'sep-2164-resource-not-found',
    'prompts-list', 'dns-rebinding-protection', 'caching', 'http-header-validation', 'input-required-result-missing-input-response',
    'input-required-result-unsupported-methods', 'input-required-result-ignore-extra-params', 'input-required-result-validate-input'],
};

/** What a program of npm's prints; it may end with 1. */
function printed(file, args, folder) {
  return new Promise(resolve => {
    execFile(process.execPath, [join(PACKAGES, file), ...args], {cwd: folder, maxBuffer: 1 << 26, timeout: 300_000},
      (error, out, err) => resolve({code: error ? error.code : 0, out, err}));
  });
}

async function conforms(version) {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-test-'));
  try {
    await withServer(PAWL, [], async server => {
      const {out, err} = await printed('conformance/dist/index.js',
        ['server', '--url', `${server.url}/mcp`, '--suite', 'all', '--spec-version', version], folder);
      const rows = [...out.matchAll(/^[✓✗] ([\w-]+): (\d+) passed, (\d+) failed/gm)]
        .map(([, name, passed, failed]) => ({name, passed: Number(passed), failed: Number(failed)}));
      if (!rows.length) throw new Broken(`the suite said nothing: ${out.slice(-2000)} ${err.slice(-2000)}`);
      const passed = rows.filter(row => row.failed === (CHECKS_LEFT_OUT[row.name] ?? 0) && !NOT_APPLICABLE[row.name]);
      const left = rows.filter(row => NOT_APPLICABLE[row.name]);
      const broken = rows.filter(row => !passed.includes(row) && !left.includes(row));
      console.log(`# ${version}: ${passed.length} scenarios passed, ${left.length} do not apply`);
      for (const row of left) console.log(`#   ${row.name}: ${NOT_APPLICABLE[row.name]}`);
      same(broken.map(row => row.name), [], 'scenarios that are broken');
      same(MUST_PASS[version].filter(name => !passed.some(row => row.name === name)), [], 'scenarios that did not run');
      same(passed.map(row => row.name).filter(name => !MUST_PASS[version].includes(name)), [], 'scenarios that nobody expected');
    });
  } finally {
    rmSync(folder, {recursive: true, force: true});
  }
}

async function inspect(way, folder) {
  const ask = async (...words) => {
    const {code, out, err} = await printed('inspector/clients/launcher/build/index.js', ['--cli', ...way, ...words], folder);
    if (code) throw new Broken(`the inspector ended with ${code}: ${err}${out}`);
    return JSON.parse(out);
  };
  holds((await ask('--method', 'tools/list')).tools.length === 40, 'the tools');
  const run = await ask('--method', 'tools/call', '--tool-name', 'start_run', '--tool-arg', "text=nodes: [{name: a, jq: '{x: 1}'}]",
    '--tool-arg', 'thread=i');
  same([run.structuredContent.status, run.structuredContent.state.x], ['completed', 1], 'a run');
  holds((await ask('--method', 'resources/list')).resources.length > 5, 'the resources');
  holds((await ask('--method', 'prompts/list')).prompts.length === 3, 'the prompts');
}

await runAll({
  'the scenarios of 2025-11-25': () => conforms('2025-11-25'),
  'the scenarios of 2026-07-28': () => conforms('2026-07-28'),
  'the inspector lists and calls over http': () => withServer(PAWL, [], async server => {
    await inspect([`${server.url}/mcp`, '--transport', 'http'], server.folder);
  }),
  'the inspector lists and calls over stdio': () => withServer(PAWL, [], async server => {
    await inspect([PAWL, 'mcp'], server.folder);
  }),
});
