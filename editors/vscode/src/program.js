/* The program that does the work: where it is, which runs it is to look at, and how it is asked for something. */
'use strict';

const {spawn} = require('node:child_process');
const {access, constants} = require('node:fs/promises');
const os = require('node:os');
const path = require('node:path');
const vscode = require('vscode');

const OUTPUT_MAX = 64 << 20;
const PATIENCE = 30_000; // milliseconds for an answer

/** What the program said of why it did not do what it was asked for. */
class ProgramError extends Error {
  /** @param {string} message @param {number | null} code its exit code; null: it was not started, or did not end by itself */
  constructor(message, code = null) {
    super(message);
    this.code = code;
  }
}

/** @param {string} name @param {vscode.Uri} [scope] @returns {string} */
function setting(name, scope) {
  return vscode.workspace.getConfiguration('pawl', scope).get(name, '').trim();
}

/** Where runs are kept, in the words of the command line. @param {vscode.Uri} [scope] */
function placeOf(scope) {
  const server = setting('server', scope), store = setting('store', scope);
  return server ? ['--server', server] : store ? ['--store', store] : [];
}

/** The program's path; one that begins with ~ or . is in the home folder, or the workspace's. */
function programPath() {
  const path_ = setting('path') || 'pawl';
  if (path_.startsWith('~/')) return path.join(os.homedir(), path_.slice(2));
  return path_.startsWith('.') ? path.resolve(folderOf(), path_) : path_;
}

/**
 * An error where there is no such program: VS Code itself would say no more than that a process could not be started.
 * @param {string} cwd
 * @param {string | null} [searched] folders as in $PATH
 */
async function findProgram(cwd, searched) {
  const program = programPath(), folders = (searched ?? process.env.PATH ?? '').split(path.delimiter).filter(Boolean);
  const places = program.includes('/') ? [path.resolve(cwd, program)] : folders.map(folder => path.join(folder, program));
  /** @type {NodeJS.ErrnoException} */
  let why = Object.assign(new Error(), {code: 'ENOENT'});
  for (const place of places) {
    try {
      return await access(place, constants.X_OK);
    } catch (error) {
      const failed = /** @type {NodeJS.ErrnoException} */ (error);
      if (failed.code !== 'ENOENT' && failed.code !== 'ENOTDIR') why = failed;
    }
  }
  throw notStarted(program, cwd, why);
}

/** The folder that the program is started in: that of the workspace, where its store is. @param {vscode.Uri} [uri] */
function folderOf(uri) {
  const inside = uri && vscode.workspace.getWorkspaceFolder(uri);
  const first = vscode.workspace.workspaceFolders?.find(folder => folder.uri.scheme === 'file');
  const folder = inside?.uri.scheme === 'file' ? inside : uri?.scheme === 'file' ? null : first;
  return folder ? folder.uri.fsPath : uri?.scheme === 'file' ? path.dirname(uri.fsPath) : os.homedir();
}

/**
 * What it printed, where it ended with one of these exit codes.
 * @param {string[]} args
 * @param {{cwd?: string, input?: string, codes?: number[], signal?: AbortSignal}} [options]
 * @returns {Promise<string>}
 */
function ask(args, {cwd = folderOf(), input = '', codes = [0], signal} = {}) {
  const program = programPath();
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {cwd, signal, timeout: PATIENCE, stdio: ['pipe', 'pipe', 'pipe']});
    let size = 0;
    /** @param {Buffer[]} to @returns {(data: Buffer) => void} */
    const into = to => data => {
      size += data.length;
      if (size > OUTPUT_MAX) child.kill();
      else to.push(data);
    };
    /** @type {Buffer[]} */
    const out = [];
    /** @type {Buffer[]} */
    const err = [];
    child.stdout.on('data', into(out));
    child.stderr.on('data', into(err));
    child.on('error', error => reject(notStarted(program, cwd, error)));
    child.on('close', code => {
      if (code !== null && codes.includes(code)) return resolve(Buffer.concat(out).toString());
      const said = Buffer.concat(err).toString().trim() || `It ended with ${code === null ? 'a signal' : `exit code ${code}`}.`;
      reject(new ProgramError(size > OUTPUT_MAX ? `\`pawl ${args[0]}\` printed more than ${OUTPUT_MAX >> 20} MB.` : said, code));
    });
    child.stdin.on('error', () => {}); // it may end before it has read all
    child.stdin.end(input);
  });
}

/** The same as JSON. @param {string[]} args @param {Parameters<typeof ask>[1]} [options] @returns {Promise<any>} */
async function askJson(args, options) {
  const text = await ask(args, options);
  try {
    return JSON.parse(text);
  } catch {
    throw new ProgramError(`\`pawl ${args.join(' ')}\` printed something that is not JSON. Is \`pawl.path\` the right program?`);
  }
}

/** @param {string} program @param {string} cwd @param {NodeJS.ErrnoException} error */
function notStarted(program, cwd, error) {
  if (error.name === 'AbortError') return error;
  return new ProgramError(error.code === 'ENOENT'
    ? `The program \`${program}\` was not found (from ${cwd}). Install Pawl, or set \`pawl.path\` to where it is.`
    : `The program \`${program}\` cannot be started: ${error.message}.`);
}

/** Says what went wrong, with the way to the setting where that is the way out. @param {unknown} error */
async function complain(error) {
  if (error instanceof Error && error.name === 'AbortError') return;
  const message = error instanceof Error ? error.message : String(error);
  const lost = error instanceof ProgramError && error.code === null;
  const chosen = await vscode.window.showErrorMessage(message, ...(lost ? ['Open Settings'] : []));
  const where = vscode.env.remoteName ? 'Remote' : ''; // the program is on that machine, and so is its setting
  if (chosen) await vscode.commands.executeCommand(`workbench.action.open${where}Settings`, {query: 'pawl.path'});
}

module.exports = {ProgramError, ask, askJson, complain, findProgram, folderOf, placeOf, programPath, setting};
