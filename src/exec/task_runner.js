/* Runs the script of a run_javascript task: pawl writes this file beside script.cjs and has Node run it.
 *
 * What the script sets are lines on standard output (set_lines.h), as those that it prints itself. An error that it ends
 * with is told in error.json, with the line of the script that is to blame. */
'use strict';

const fs = require('fs');
const path = require('path');
const Module = require('module');

const TEXT_MAX = 16384; // characters of a message and of a traceback
const ERROR = path.join(__dirname, 'error.json');
const SCRIPT = path.join(__dirname, 'script.cjs');
const NEVER =
  'The script waits for something that can never happen: nothing is left that could end the wait.';

let over = false;

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function set(order, name, value) {
  const word = String(name);
  if (!word || /\s/.test(word)) throw new TypeError(`a name cannot be empty or hold blanks: "${word}"`);
  process.stdout.write(`::${order} ${word} ${JSON.stringify(value) ?? 'null'}\n`);
}

function writeIn(folder, name, content) {
  const file = path.join(folder, String(name));
  fs.mkdirSync(path.dirname(file), {recursive: true});
  fs.writeFileSync(file, content);
}

function fail(error) {
  if (over) return;
  over = true;
  const isError = error instanceof Error;
  const message = isError ? error.message : require('util').format(error);
  const stack = String((isError && error.stack) || message);
  const found = new RegExp('script\\.cjs:(\\d+)').exec(stack);
  const told = {
    type: isError ? String(error.name) : 'Error',
    message: message.slice(0, TEXT_MAX),
    line: found ? Number(found[1]) - 1 : 0,
    traceback: stack.split('\n').filter((line) => !/task\.cjs|node:internal/.test(line))
      .join('\n').slice(0, TEXT_MAX),
  };
  fs.writeFileSync(ERROR, JSON.stringify(told));
  process.stderr.write(`${told.traceback}\n`);
  process.exit(1);
}

const env = Object.fromEntries(
  Object.entries(process.env).map(([name, value]) => [name, parsed(value)]));
const given = {
  env, fs, path,
  require: Module.createRequire(path.resolve('script.cjs')),
  SUMMARY_FILE: process.env.PAWL_SUMMARY,
  RESULT_DIR: process.env.PAWL_RESULT_DIR,
  TEST_RESULT_FILE: process.env.PAWL_TEST_RESULT,
  setVar: (name, value) => set('set-json', name, String(value)),
  setOutput: (name, value) => set('set-out-json', name, String(value)),
  setVarJSON: (name, value) => set('set-json', name, value),
  setOutputJSON: (name, value) => set('set-out-json', name, value),
  writeResultFile: (name, content) => writeIn(process.env.PAWL_RESULT_DIR, name, content),
  writeSummary: (content) => fs.writeFileSync(process.env.PAWL_SUMMARY, content),
  writeTestResult: (content) => fs.writeFileSync(process.env.PAWL_TEST_RESULT, content),
  appendTestResult: (content) => fs.appendFileSync(process.env.PAWL_TEST_RESULT, content),
  log: (...values) => console.log(...values),
};
const variables = path.join(__dirname, 'vars.json');
if (fs.existsSync(variables)) given.vars = parsed(fs.readFileSync(variables, 'utf8'));

process.on('uncaughtException', fail);
process.on('unhandledRejection', fail);
process.on('beforeExit', () => {
  if (!over) fail(new Error(NEVER));
});

/* In a function inside of one whose parameters are what it is given: so it may declare the same names itself. Its lines are
 * one further down than in the workflow. */
const text = fs.readFileSync(SCRIPT, 'utf8');
const wrapped = new Module(SCRIPT, null);
wrapped.filename = SCRIPT;
wrapped.paths = Module._nodeModulePaths(process.cwd());
wrapped.require = given.require;
try {
  wrapped._compile(
    `module.exports = ({${Object.keys(given).join(', ')}}) => async () => {\n${text}\n};\n`, SCRIPT);
  wrapped.exports(given)().then((result) => {
    over = true;
    if (result && typeof result === 'object' && !Array.isArray(result)) {
      for (const [name, value] of Object.entries(result)) set('set-out-json', name, value);
    }
  }).catch((error) => {
    over = false;
    fail(error);
  });
} catch (error) {
  fail(error);
}
