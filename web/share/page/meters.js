// @ts-check
/** The answer on the page: a sentence and a meter for each class. */
import { byId } from '../../ui/kit/dom.js';
import { html, render, repeat } from '../../ui/kit/view.js';

/** @param {{verdict: string, rows: import('./compose.js').Row[]}} frame */
export function showMeters({ verdict, rows }) {
  byId('verdict', HTMLElement).textContent = verdict;
  render(
    repeat(
      rows,
      ({ name, none }) => `${none}${name}`,
      ({ name, text, p, best, none }) => html`<li>
    <div class="meter${none ? ' meter-none' : ''}${best ? ' meter-best' : ''}" role="meter" aria-valuemin="0" aria-valuemax="1" aria-label=${name} aria-valuetext=${text} aria-valuenow=${p}>
      <span class="meter-bar" .style=${`width: ${(100 * p).toFixed(2)}%`}></span><span class="meter-name" dir="auto">${name}</span><span class="meter-value">${text}</span></div></li>`,
    ),
    byId('meters', HTMLElement),
  );
}
