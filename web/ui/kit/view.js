// @ts-check
/**
 * The parts of lit-html that the page uses. `html` describes elements, `render` updates the
 * document, `repeat` keeps the element of a key when its place changes. Text is never markup.
 */
import { html, render } from 'lit-html';

export { html, nothing, render, svg } from 'lit-html';
export { live } from 'lit-html/directives/live.js';
export { ref } from 'lit-html/directives/ref.js';
export { repeat } from 'lit-html/directives/repeat.js';

/** The nodes of a template, for a place that is drawn once. @param {unknown} template */
export function nodesOf(template) {
  const nodes = document.createDocumentFragment();
  render(template, nodes);
  return nodes;
}

/** One of the icons drawn in index.html, hidden from assistive technology: the control around it carries the name. @param {string} name */
export const icon = (name) => html`<svg class="icon" aria-hidden="true"><use href="#icon-${name}"></use></svg>`;
