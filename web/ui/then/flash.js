// @ts-check
/** Flashes the screen once. It does not flash again while a flash is on, as flickering can cause seizures. */
import { el } from '../kit/dom.js';

/** Milliseconds of a flash: at most one a second. */
const LENGTH = 1000;

/** @type {import('./index.js').Device} */
export const flash = {
  id: 'flash',
  does: 'flash the screen',
  fields: [
    {
      name: 'colour',
      label: 'Colour',
      kind: 'choice',
      first: 'white',
      choices: ['white', 'red', 'green', 'blue', 'yellow'].map((colour) => [colour, colour]),
    },
  ],
  words: ({ colour }) => `flash the screen ${colour}`,
  lacks: () => '',
  run: async ({ colour }) => {
    if (document.querySelector('.flash')) return;
    const cover = el('div', { class: `flash flash-${colour}`, popover: 'manual', 'aria-hidden': 'true' });
    document.body.append(cover);
    cover.showPopover?.(); // above open dialogs
    const calm = matchMedia('(prefers-reduced-motion: reduce)').matches;
    cover.animate({ opacity: calm ? [0.4, 0.4] : [0.9, 0.6, 0] }, LENGTH).finished.then(
      () => cover.remove(),
      () => cover.remove(),
    );
  },
};
