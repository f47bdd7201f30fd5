// @ts-check
/** The buttons that hand on what was taught. What is behind them is fetched when they are pressed. */
import { say } from '../kit/announce.js';
import { el, sentence } from '../kit/dom.js';

/**
 * @param {import('../../library/types.js').Engine} engine
 * @param {Parameters<typeof import('./share.js').share>[0]['reader']} reader
 */
export function handOn(engine, reader) {
  const button = (/** @type {string} */ label, /** @type {() => Promise<void>} */ work) => el('button', {
    class: 'button', type: 'button', onclick: ({ currentTarget }) => {
      /** @type {Element} */ (currentTarget).closest('dialog')?.close(); // the next one takes its place
      void work().catch((error) => say(sentence(error)));
    },
  }, label);
  return el('div', { class: 'actions' },
    button('Share…', async () => (await import('./share.js')).share({ engine, reader })),
    button('For other programs…', async () => (await import('./plain.js')).explain({ engine })));
}
