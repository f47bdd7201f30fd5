// @ts-check
/** "For other programs": the open session as numbers that some lines of Python or JavaScript read. Fetched when it is asked for. */
import { complain, say } from '../kit/announce.js';
import { dialogHead, el, save, sentence } from '../kit/dom.js';
import { fileName, megabytes } from '../../share/assemble.js';

/** @type {HTMLDialogElement|undefined} */
let dialog;

/** Opens the dialog. @param {{engine: import('../../library/types.js').Engine}} parts */
export async function explain({ engine }) {
  dialog ??= build(engine);
  dialog.showModal();
}

/** @param {import('../../library/types.js').Engine} engine */
function build(engine) {
  const error = el('p', { class: 'error', role: 'alert', hidden: true });
  const dialog = el('dialog', { class: 'dialog', 'aria-labelledby': 'plain-title' });
  dialog.append(dialogHead(dialog, 'plain-title', 'For other programs'),
    el('p', {}, 'A file of numbers (safetensors) that is complete in itself: with it, and the same numbers per picture, thirty lines of Python or JavaScript '
      + 'give the same probabilities as this page, that of none of these among them. It answers as this session does now; nothing more can be taught to it.'),
    el('p', { class: 'muted' }, 'Those lines stand in web/share/README.md of metaqda.'),
    error,
    el('div', { class: 'actions' }, el('button', { class: 'button primary', type: 'button', onclick: () => {
      Promise.all([engine.exportClassifier(), engine.state()]).then(([bytes, { sessionName }]) => {
        const file = fileName(sessionName).replace(/html$/, 'safetensors');
        void save(bytes, file);
        dialog.close();
        say(`“${file}” was saved: ${megabytes(bytes.length)}.`);
      }).catch((failed) => complain(error, sentence(failed)));
    } }, 'Save the numbers')));
  dialog.addEventListener('close', () => complain(error, ''));
  document.body.append(dialog);
  return dialog;
}
