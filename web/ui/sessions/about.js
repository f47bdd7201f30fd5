// @ts-check
/** The about dialog: what this is, privacy, licences and the version. */
import { byId, dialogHead, el } from '../kit/dom.js';

/** @param {Promise<string>} version of the site */
export function buildAbout(version) {
  const dialog = byId('about', HTMLDialogElement);
  const stamp = el('p', { class: 'small muted' });
  dialog.replaceChildren(dialogHead(dialog, 'about-title', 'About metaqda'),
    el('p', {}, 'Few-shot recognition in the browser tab: a feature extractor turns each picture into numbers, and a Bayesian '
      + 'quadratic discriminant, meta-learned beforehand, turns a few examples into probabilities. It computes in Go, compiled to WebAssembly.'),
    el('p', {}, 'Nothing you show leaves this device: no picture, no name, no statistics. What you teach is kept in this '
      + 'browser’s own storage until you delete it. Clearing the site’s data removes everything.'),
    el('p', {}, 'The method: Zhang, Meng, Gouk and Hospedales, Shallow Bayesian Meta Learning for Real-World Few-Shot Recognition, ICCV 2021.'),
    el('ul', { class: 'plain' },
      el('li', {}, el('a', { href: 'LICENSE.txt' }, 'Licence (Apache-2.0)')),
      el('li', {}, el('a', { href: 'THIRD_PARTY.md' }, 'Third-party notices'))),
    stamp);
  version.then((text) => { stamp.textContent = `Version ${text}`; }, () => {});
  byId('about-button', HTMLElement).addEventListener('click', () => dialog.showModal());
}
