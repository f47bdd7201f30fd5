// @ts-check
/** Connects the page's recogniser to a classifier without storage and to the meters of a shared file. */
import { say } from '../../ui/kit/announce.js';
import { byId, sentence } from '../../ui/kit/dom.js';
import { catchMisses, catchPaste } from '../../ui/kit/drop.js';
import { speakOf } from '../../ui/kinds/choice.js';
import { kindsOf } from '../../ui/kinds/index.js';
import { Recogniser } from '../../ui/recognise/recognise.js';
import { knowClassesBy } from '../../ui/teach/correct.js';
import { Then } from '../../ui/then/then.js';
import { compose } from './compose.js';
import { goodOnes } from './good.js';
import { showMeters } from './meters.js';

/** @import {Target} from '../../ui/teach/correct.js' */

/**
 * @param {{classifier: import('../../library/index.js').Classifier, kind: import('../../ui/kinds/index.js').Kind, about: import('../assemble.js').About, copies: import('./copies.js').Copies, actions: ReturnType<typeof import('../../ui/then/actions.js').actionsIn>, onTaught: () => void}} parts
 */
export function buildRecogniser({ classifier, kind, about, copies, actions, onTaught }) {
  speakOf(kind);
  /** Undo steps, the newest last. @type {{name: string, back: () => void}[]} */
  const done = [];
  const named = () => classifier.labels.map((name) => ({ id: name, name, examples: classifier.examples(name), actions: actions.classes.get(name) }));
  const kinds = kindsOf([kind]);
  const keepsCopies = copies.size > 0;
  const then = new Then();
  const before = classifier.labels; // labels of the file; some classes may have no examples
  /** Examples added here, by ids that stay the same when undo restores one: label, and id in the classifier. @type {Map<string, {label: string, id: string}>} */
  const taught = new Map();
  let count = 0;
  /** The embedding of the shown answer. @type {Float32Array|null} */
  let asked = null;

  /** Shows the answer. @param {import('../../library/index.js').Shown} [shown] in its place */
  const answer = (shown) => {
    if (!asked) {
      showMeters({ verdict: 'The probabilities appear here.', rows: [] });
      return null;
    }
    const own = classifier.predictSync(asked);
    const { counts, labels } = classifier;
    const probabilities = shown?.probabilities ?? own.probabilities;
    const { headline, first, none } = shown?.probabilities ? shown : own;
    showMeters(
      compose(
        labels.map((name) => ({ name, examples: counts[name], probability: probabilities[name] })),
        none,
        { sort: about.sort, headline, first },
      ),
    );
    return own;
  };
  /** Follows the live view. @type {ReturnType<typeof classifier.watch>|null} */
  let watch = null;
  const show = async (/** @type {Float32Array|null} */ embedding) => {
    watch?.dispose();
    watch = null; // the next live view begins anew
    asked = embedding;
    return answer();
  };
  const frame = async (/** @type {Float32Array|null} */ embedding) => {
    asked = embedding;
    watch ??= classifier.watch({ falseEventsPerHour: then.perHour });
    const events = watch.next(embedding && classifier.predictSync(embedding), (performance.timeOrigin + performance.now()) / 1000);
    return { answer: answer(watch.shown), events, here: watch.here ?? '' };
  };
  const again = () => {
    showUndo();
    answer();
    recogniser.follow(named());
    then.follow(named(), actions.none);
    onTaught();
  };
  const button = byId('undo-button', HTMLElement);
  const showUndo = () => {
    const last = done.at(-1);
    button.setAttribute('aria-disabled', String(!last)); // a disabled button would lose the focus
    button.title = last ? `Undo: ${last.name}` : 'There is nothing to undo';
  };
  /** Announces a change and records how to undo it. @param {string} text @param {string} name @param {() => void} back */
  const did = (text, name, back) => {
    done.push({ name, back });
    again();
    say(text);
  };
  const undo = () => {
    const last = done.pop();
    if (!last) return say('There is nothing to undo.');
    last.back();
    again();
    say(`Undone: ${last.name}.`);
  };
  /** @param {string} example @param {string} label @param {Float32Array} vector @param {Uint8Array} [copy] */
  const add = (example, label, vector, copy) => {
    const id = classifier.addExampleSync(vector, label, { thumbnail: copy ?? null });
    taught.set(example, { label, id });
    if (copy) copies.set(id, copy);
  };
  /** @param {string} example */
  const remove = (example) => {
    const { label = '', id = '' } = taught.get(example) ?? {};
    const copy = copies.get(id);
    classifier.removeExample(id);
    taught.delete(example);
    copies.delete(id);
    if (!classifier.counts[label] && !before.includes(label)) classifier.removeClass(label);
    return { label, copy };
  };
  const labelOf = (/** @type {Target} */ target) => ('id' in target ? target.id : classifier.label(target.name));
  knowClassesBy(async (name) => {
    // ids are labels here
    const label = classifier.label(name);
    return classifier.labels.includes(label) ? label : '';
  });

  const recogniser = new Recogniser({
    kinds,
    seen: then,
    odd: keepsCopies ? goodOnes({ classifier, kinds, copies }) : undefined,
    teachable: about.learn,
    refusal: (error) => refusal(error, kind),
    engine: { show, frame, taught: classifier },
    teaching: {
      teach: async (target, open) => {
        const sample = await open();
        const [vector, copy] = await Promise.all([sample.embed(), keepsCopies ? sample.thumbnail() : undefined]).finally(() => sample.close());
        const [id, label] = [`${++count}`, labelOf(target)];
        add(id, label, vector, copy);
        did(`Taught as “${label}”.`, `add a ${kind.one} to ${label}`, () => remove(id));
        return id;
      },
      move: async (id, target) => {
        const { label: from, copy } = remove(id);
        const [to, vector] = [labelOf(target), /** @type {Float32Array} */ (asked)]; // only the shown example can be moved
        add(id, to, vector, copy);
        did(`Moved from “${from}” to “${to}”.`, `move a ${kind.one} to ${to}`, () => {
          remove(id);
          add(id, from, vector, copy);
        });
      },
      forget: async (id) => {
        const { label, copy } = remove(id);
        const vector = /** @type {Float32Array} */ (asked);
        did(`No longer taught as “${label}”.`, `remove a ${kind.one} from ${label}`, () => add(id, label, vector, copy));
      },
      classOf: (example) => {
        const { label } = taught.get(example) ?? {};
        return label === undefined ? undefined : { id: label, name: label };
      },
      same: async () => undefined, // near-copies are not looked for here
    },
  });
  recogniser.follow(named());
  then.follow(named(), actions.none);
  catchMisses((files) => void recogniser.take(files), kind.claims);
  catchPaste((files) => void recogniser.take(files), kind.claims);
  button.hidden = !about.learn;
  showUndo();
  button.addEventListener('click', undo);
  document.addEventListener('keydown', (event) => {
    if (event.key !== 'z' || event.shiftKey || !(event.ctrlKey || event.metaKey) || event.target instanceof HTMLInputElement) return;
    event.preventDefault();
    undo();
  });
}

/** Why there is no camera or microphone, for a file. @param {unknown} error @param {import('../../ui/kinds/index.js').Kind} kind */
function refusal(error, { one, live }) {
  if (/** @type {{code?: string}} */ (error).code !== 'insecure' && navigator.mediaDevices) return sentence(error);
  return `This browser does not let a file use the ${live.name.toLowerCase()}: choose ${one}s instead, or open this file by https, from a web server.`;
}
