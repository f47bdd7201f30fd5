// @ts-check
/**
 * The view library: what of lit-html the page uses. `html` describes elements, `render` brings
 * those that are there into line, `repeat` keeps the element of a key when its place changes.
 * Text always goes in as text, never as markup. web/build/kit.mjs bundles it for the site.
 */
export { html, nothing, render } from 'lit-html';
export { live } from 'lit-html/directives/live.js';
export { ref } from 'lit-html/directives/ref.js';
export { repeat } from 'lit-html/directives/repeat.js';
