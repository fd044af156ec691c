// Colours of a terminal in what nodes print. Everything else that a terminal would obey is left out.

export interface Piece {
  text: string;
  style: string; // classes
}

const COLOURS = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'];
// CSI, OSC and the other sequences; \x9b is CSI in one character.
const SEQUENCE = /(?:\x1b\[|\x9b)([0-?]*)[ -/]*([@-~])|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[@-Z\\-_]|\x1b[ -/][0-~]/g;
// What cannot be seen and changes how the rest is read: shown as what it is.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;

/** Control characters and marks of direction, as text that can be seen. */
export function visible(text: string): string {
  return text.replace(HIDDEN, one => `\u2039${one.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}\u203a`);
}

function applied(codes: string, now: {colour: string; bold: boolean; dim: boolean}): void {
  const list = codes === '' ? [0] : codes.split(';').map(Number);
  for (let i = 0; i < list.length; i++) {
    const code = list[i]!;
    if (code === 0) Object.assign(now, {colour: '', bold: false, dim: false});
    else if (code === 1) now.bold = true;
    else if (code === 2) now.dim = true;
    else if (code === 22) now.bold = now.dim = false;
    else if (code >= 30 && code <= 37) now.colour = COLOURS[code - 30]!;
    else if (code >= 90 && code <= 97) now.colour = COLOURS[code - 90]!;
    else if (code === 39) now.colour = '';
    else if (code === 38 || code === 48) i += list[i + 1] === 5 ? 2 : 4;
  }
}

export function ansiPieces(text: string): Piece[] {
  if (!/[\x1b\x9b]/.test(text)) return [{text: visible(text), style: ''}];
  const out: Piece[] = [], now = {colour: '', bold: false, dim: false};
  let at = 0;
  const add = (part: string): void => {
    if (!part) return;
    const style = [now.colour && `ansi-${now.colour}`, now.bold && 'ansi-bold', now.dim && 'dim'].filter(Boolean).join(' ');
    out.push({text: visible(part), style});
  };
  for (const match of text.matchAll(SEQUENCE)) {
    add(text.slice(at, match.index));
    at = match.index + match[0].length;
    if (match[2] === 'm') applied(match[1] ?? '', now);
  }
  add(text.slice(at));
  return out;
}
