/* Shows the place of a node in the file: by a click, or by Enter. */
'use strict';

{
  // @ts-ignore: what VS Code gives to pages of extensions
  const vscode = acquireVsCodeApi();
  const open = (/** @type {Event} */ event) => {
    const node = event.target instanceof Element && event.target.closest('.node');
    if (node instanceof SVGElement && node.dataset.line) vscode.postMessage({line: Number(node.dataset.line)});
  };
  document.querySelector('.node:is(.waits, .failed, .goes):not(:has(.node:is(.waits, .failed, .goes)))')?.scrollIntoView({block: 'center'});
  document.addEventListener('click', open);
  document.addEventListener('keydown', event => event.key === 'Enter' && open(event));
}
