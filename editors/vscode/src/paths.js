/* The path into the state that stands at a column of a line: what a hover shows the value of while a run is paused. Pure. */
'use strict';

const NAME = '[A-Za-z_][A-Za-z0-9_]*';
const STEP = `(?:\\.?\\[(?:-?\\d+|"(?:[^"\\\\]|\\\\.)*")\\]|\\.${NAME}|\\."(?:[^"\\\\]|\\\\.)*")`;
/* .a.b[0]."c d" and $x.a, of which nothing may be the end of a longer word, a number or a range. */
const PATH = new RegExp(`(?<![A-Za-z0-9_.)\\]"$])(?:\\$${NAME}(?:${STEP})*|(?:\\.${NAME}|\\."(?:[^"\\\\]|\\\\.)*"|\\.\\[(?:-?\\d+|"(?:[^"\\\\]|\\\\.)*")\\])(?:${STEP})*)`, 'g');
/* Queries of tests name variables without a dot before them: a.b.c, and ${a.b} in texts. */
const VARIABLE = new RegExp(`(?<![A-Za-z0-9_.$"'/-])${NAME}(?:\\.${NAME})+(?![A-Za-z0-9_(/-])`, 'g');
const PLACEHOLDER = new RegExp(`(?<=\\$\\{)\\s*${NAME}(?:\\.${NAME})*(?=\\s*\\})`, 'g');

/**
 * @param {string} line
 * @param {number} column from 0
 * @param {string} dialect
 * @returns {{begin: number, end: number, expression: string} | null} up to the step of the path that the column is in
 */
function pathAt(line, column, dialect) {
  const comment = /^\s*#/.test(line);
  if (comment) return null;
  for (const [pattern, before] of dialect === 'tasks' ? [[PATH, ''], [PLACEHOLDER, '.'], [VARIABLE, '.']] : [[PATH, '']]) {
    for (const found of line.matchAll(/** @type {RegExp} */ (pattern))) {
      const begin = found.index + found[0].length - found[0].trimStart().length;
      if (column < begin || column >= found.index + found[0].length) continue;
      const text = found[0].trim();
      const end = begin + wholeSteps(text, column - begin);
      return {begin, end, expression: before + line.slice(begin, end)};
    }
  }
  return null;
}

/**
 * The length of a path up to the end of the step that a column is in.
 * @param {string} text
 * @param {number} column
 */
function wholeSteps(text, column) {
  const steps = new RegExp(`^\\$?${NAME}|${STEP}`, 'g');
  for (const step of text.matchAll(steps)) {
    if (step.index + step[0].length > column) return step.index + step[0].length;
  }
  return text.length;
}

module.exports = {pathAt};
