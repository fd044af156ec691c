// Values, times and sizes as people read them. What comes from outside stays text, whatever is in it.

export type Path = (string | number)[];

export function duration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  const s = Math.floor(ms / 1000);
  if (s < 3600) return `${Math.floor(s / 60)}:${String(s % 60).padStart(2, '0')}`;
  if (s < 48 * 3600) return `${Math.floor(s / 3600)}:${String(Math.floor(s % 3600 / 60)).padStart(2, '0')} h`;
  return `${Math.floor(s / 86400)} d`;
}

/** When it was, as short as it is clear: the time today, the day this week, else the date. */
export function moment(iso: string, now = Date.now()): string {
  const at = new Date(iso), days = (now - at.getTime()) / 86_400_000;
  if (days < 1 && at.getDate() === new Date(now).getDate()) {
    return at.toLocaleTimeString('en-GB', {hour: '2-digit', minute: '2-digit'});
  }
  if (days < 6) return at.toLocaleDateString('en-GB', {weekday: 'short'});
  return at.toLocaleDateString('en-GB', {day: '2-digit', month: 'short'});
}

export function clock(iso: string): string {
  const at = new Date(iso);
  const two = (n: number): string => String(n).padStart(2, '0');
  return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}.${String(at.getMilliseconds()).padStart(3, '0')}`;
}

export function bytes(n: number): string {
  if (n < 1000) return `${n} B`;
  const units = ['KB', 'MB', 'GB'];
  let unit = -1;
  do {
    n /= 1024;
    unit++;
  } while (n >= 1000 && unit < units.length - 1);
  return `${n < 10 ? n.toFixed(1) : Math.round(n)} ${units[unit]}`;
}

export const count = (n: number): string => n.toLocaleString('en-US');

export function plural(n: number, one: string, many = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}

const SHOWN = 2000; // characters of a value in a row or a result

/** JSON in a line, at most so long. */
export function brief(value: unknown, most = SHOWN): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length <= most ? text : `${text.slice(0, most)}…`;
}

export function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most)}… ${bytes(text.length)} in all`;
}

const PLAIN = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** ["a", 0, "b c"] as jq writes it: .a[0]["b c"] */
export function pathText(path: Path): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `${text ? '' : '.'}[${step}]`;
    else if (PLAIN.test(step)) text += `.${step}`;
    else text += `${text ? '' : '.'}[${JSON.stringify(step)}]`;
  }
  return text || '.';
}

export type Token = 'k' | 'q' | 'n' | 'p';

/** A JSON text cut into its words, for colours. */
export function* jsonTokens(text: string): Generator<[Token, string]> {
  const words = /"(?:[^"\\]|\\.)*"?(\s*:)?|-?\d[\d.eE+-]*|true|false|null|[{}[\],:]|\s+|[^\s]/g;
  for (const match of text.matchAll(words)) {
    const word = match[0];
    if (word[0] === '"') yield match[1] ? ['k', word] : ['q', word];
    else if (/^(-?\d|true|false|null)/.test(word)) yield ['n', word];
    else yield ['p', word];
  }
}

/** What somebody typed for a value: JSON; what looks like no JSON at all is a text. */
export function typedValue(text: string): {value: unknown; quoted: boolean} {
  const trimmed = text.trim();
  try {
    return {value: JSON.parse(trimmed), quoted: false};
  } catch {
    return {value: text, quoted: true};
  }
}
