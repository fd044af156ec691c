// CodeMirror as the page uses it: YAML in our colours, with line numbers, search and folding where it is edited.
import {defaultKeymap, history, historyKeymap, indentWithTab} from '@codemirror/commands';
import {yaml} from '@codemirror/lang-yaml';
import {bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting} from '@codemirror/language';
import {searchKeymap, highlightSelectionMatches} from '@codemirror/search';
import {EditorState, type Extension} from '@codemirror/state';
import {drawSelection, EditorView, highlightActiveLine, highlightSpecialChars, keymap, lineNumbers} from '@codemirror/view';
import {tags} from '@lezer/highlight';

const colours = HighlightStyle.define([
  {tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--syn-key)'},
  {tag: [tags.string, tags.special(tags.string), tags.attributeValue], color: 'var(--syn-str)'},
  {tag: [tags.number, tags.bool, tags.null], color: 'var(--syn-num)'},
  {tag: [tags.comment, tags.meta], color: 'var(--syn-dim)', fontStyle: 'italic'},
  {tag: [tags.punctuation, tags.separator, tags.squareBracket, tags.brace], color: 'var(--syn-dim)'},
]);

const look = EditorView.theme({
  '&': {height: '100%', background: 'var(--paper)', color: 'var(--ink)', fontSize: 'var(--t-2)'},
  '&.cm-focused': {outline: 'none'},
  '.cm-scroller': {fontFamily: 'var(--mono)', lineHeight: 'var(--lh-code)', overflow: 'auto'},
  '.cm-content': {padding: '4px 0', caretColor: 'var(--accent)'},
  '.cm-line': {padding: '0 8px 0 4px'},
  '.cm-gutters': {background: 'var(--paper)', color: 'var(--ink-3)', border: '0'},
  '.cm-lineNumbers .cm-gutterElement': {padding: '0 8px 0 2px', minWidth: '24px', fontSize: 'var(--t-1)'},
  '.cm-points .cm-gutterElement': {width: '22px', display: 'grid', placeItems: 'center', cursor: 'pointer', color: 'var(--bp)'},
  '.cm-points .i': {width: '13px', height: '13px'},
  '.cm-points .off': {color: 'var(--bp-off)'},
  '.cm-points .cm-gutterElement:hover:empty::before': {content: '""', width: '9px', height: '9px', borderRadius: '50%', background: 'var(--bp)', opacity: '.4'},
  '.cm-activeLine, .cm-activeLineGutter': {background: 'transparent'},
  '&.cm-focused .cm-activeLine': {background: 'color-mix(in srgb, var(--hover) 60%, transparent)'},
  '.cm-cursor': {borderLeftColor: 'var(--accent)', borderLeftWidth: '1.5px'},
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground': {background: 'var(--accent-soft) !important'},
  '.cm-cur, &.cm-focused .cm-cur.cm-activeLine': {background: 'var(--paused-soft)'},
  '.cm-chosen': {boxShadow: 'inset 2px 0 var(--accent-fill)'},
  '.cm-blk': {boxShadow: 'inset 2px 0 var(--paused-fill)'},
  '.cm-call': {background: 'color-mix(in srgb, var(--paused-soft) 50%, var(--paper))'},
  '.cm-panels': {background: 'var(--chrome)', color: 'var(--ink)', borderTop: '1px solid var(--line)'},
  '.cm-panel input, .cm-panel button, .cm-panel label': {fontFamily: 'var(--sans)', fontSize: 'var(--t-2)'},
  '.cm-textfield': {background: 'var(--paper)', border: '1px solid var(--line-2)', borderRadius: 'var(--r-2)', color: 'var(--ink)'},
  '.cm-button': {background: 'var(--paper)', backgroundImage: 'none', border: '1px solid var(--line-2)', borderRadius: 'var(--r-2)', color: 'var(--ink)'},
  '.cm-searchMatch': {background: 'var(--mod-soft)', outline: '1px solid var(--paused-line)'},
  '.cm-tooltip': {background: 'var(--raised)', border: '1px solid var(--line-2)', borderRadius: 'var(--r-2)'},
});

/** What cannot be seen, and what turns the direction of text, is shown as what it is. */
const hidden = highlightSpecialChars({addSpecialChars: /[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]/gu, render: (code, description) => {
  const mark = document.createElement('span');
  mark.textContent = `‹${code.toString(16).toUpperCase().padStart(4, '0')}›`;
  mark.title = description ?? '';
  mark.className = 'cm-specialChar';
  return mark;
}});

/** onnumber: the number of a line was pressed. */
export const common = (name: string, onnumber?: (line: number) => void): Extension => [
  lineNumbers(onnumber ? {domEventHandlers: {mousedown: (view, block) => {
    onnumber(view.state.doc.lineAt(block.from).number);
    return true;
  }}} : {}), yaml(), syntaxHighlighting(colours), look, hidden, drawSelection(), highlightActiveLine(), EditorView.lineWrapping,
  keymap.of([...searchKeymap, ...defaultKeymap]), EditorView.contentAttributes.of({'aria-label': name, tabindex: '0'})];

export const reading: Extension = [EditorState.readOnly.of(true), EditorView.contentAttributes.of({'aria-readonly': 'true'})];

export const writing: Extension = [history(), indentOnInput(), bracketMatching(), highlightSelectionMatches(),
  keymap.of([indentWithTab, ...historyKeymap]), EditorState.tabSize.of(2)];

/** An icon of ours, for what CodeMirror draws. */
export function iconElement(name: string, style = ''): SVGSVGElement {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg'), use = document.createElementNS('http://www.w3.org/2000/svg', 'use');
  svg.setAttribute('class', `i ${style}`);
  svg.setAttribute('aria-hidden', 'true');
  use.setAttribute('href', `#${name}`);
  svg.append(use);
  return svg;
}
