// @ts-check
/** What the recogniser of the page needs in a shared file: a classifier without storage, and meters. */
import { complain, say, UndoStack } from '../../ui/kit/announce.js';
import { byId, sentence } from '../../ui/kit/dom.js';
import { catchMisses, catchPaste } from '../../ui/kit/drop.js';
import { Kinds } from '../../ui/kinds/index.js';
import { cameraError } from '../../ui/kinds/pictures/camera.js';
import { pictures } from '../../ui/kinds/pictures/index.js';
import { Recogniser } from '../../ui/recognise/recognise.js';
import { compose } from './compose.js';
import { Meters } from './meters.js';

/** @typedef {import('../../ui/teach/correct.js').Target} Target */

/**
 * @param {{classifier: import('../../library/index.js').Classifier, extractor: import('./extractor.js').Extractor, about: import('../assemble.js').About, onTaught: () => void}} parts
 */
export function buildRecogniser({ classifier, extractor, about, onTaught }) {
  const meters = new Meters();
  const undo = new UndoStack();
  const named = () => classifier.labels.map((name) => ({ id: name, name }));
  /** Labels of the examples that were taught here. @type {Map<string, string>} */
  const taught = new Map();
  /** What the answer shown is about. @type {Float32Array|null} */
  let asked = null;

  const answer = () => {
    if (!asked) {
      meters.show({ verdict: 'The probabilities appear here.', rows: [] });
      return null;
    }
    const { probabilities, none, decision, doubtful, headline } = classifier.predictSync(asked);
    const { counts, labels, settings } = classifier;
    meters.show(compose(labels.map((name) => ({ name, examples: counts[name], probability: probabilities[name] })), none, { open: settings.nonePrior > 0, sort: about.sort, taken: decision === null ? -1 : labels.indexOf(decision), headline }));
    return { classes: labels.map((name) => ({ id: name, name, probability: probabilities[name] })), none, decision: { class: decision ?? '', doubtful, headline } };
  };
  const again = () => {
    answer();
    recogniser.follow(named());
    onTaught();
  };
  /** Does something and offers to take it back. @param {string} text @param {() => void} back */
  const offer = (text, back) => {
    again();
    say(text, { seen: true });
    undo.offer(text, async () => {
      back();
      again();
      say(`Taken back: ${text}`);
    });
  };
  /** @param {string} label @param {Float32Array} vector */
  const add = (label, vector) => {
    const id = classifier.addExampleSync(vector, label);
    taught.set(id, label);
    return id;
  };
  /** @param {string} id */
  const remove = (id) => {
    const label = taught.get(id) ?? '';
    classifier.removeExample(id);
    taught.delete(id);
    if (!classifier.counts[label] && !about.classes.includes(label)) classifier.removeClass(label);
    return label;
  };
  const labelOf = (/** @type {Target} */ target) => ('id' in target ? target.id : target.name.normalize('NFC'));

  const recogniser = new Recogniser({
    kinds: new Kinds({ pictures: pictures(async () => extractor) }, 'pictures'), teachable: about.learn, refusal,
    classifier: {
      recognise: async (embedding) => {
        asked = embedding;
        return answer();
      },
      teach: async (target, open) => {
        const sample = await open();
        const vector = await sample.embed().finally(() => sample.close());
        const id = add(labelOf(target), vector);
        offer(`Taught as “${labelOf(target)}”.`, () => void (taught.has(id) && remove(id)));
        return id;
      },
      move: async (example, target) => {
        const vector = /** @type {Float32Array} */ (asked); // only what is shown can be moved
        const from = remove(example);
        let id = add(labelOf(target), vector);
        offer(`Moved from “${from}” to “${labelOf(target)}”.`, () => { remove(id); id = add(from, vector); });
        return id;
      },
      forget: async (example) => {
        const vector = /** @type {Float32Array} */ (asked);
        const label = remove(example);
        offer(`No longer taught as “${label}”.`, () => void add(label, vector));
      },
      classOf: (example) => {
        const name = taught.get(example);
        return name === undefined ? undefined : { id: name, name };
      },
    },
  });
  recogniser.follow(named());
  const wanted = (/** @type {File} */ file) => recogniser.kinds.now.claims(file);
  catchMisses(document, (files) => void recogniser.recogniseFiles(files), wanted);
  catchPaste(document, (files) => void recogniser.recogniseFiles(files), wanted);
  document.addEventListener('keydown', (event) => {
    if (event.key !== 'z' || event.shiftKey || !(event.ctrlKey || event.metaKey) || event.target instanceof HTMLInputElement) return;
    event.preventDefault();
    void undo.undo().catch((error) => complain(byId('query-error', HTMLElement), sentence(error)));
  });
  return recogniser;
}

/** Why there is no camera, for a file. @param {unknown} error */
function refusal(error) {
  const { code, message } = cameraError(error);
  if (code === 'insecure' || !navigator.mediaDevices) return 'This browser lets no file use the camera: choose pictures instead, or open this file in a current Chrome, Edge or Firefox on a computer.';
  return message;
}
