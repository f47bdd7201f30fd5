// @ts-check
/**
 * The kinds of sessions: pictures, hands and sounds, each with a folder here. A `Kind` says
 * how an example is captured, drawn and embedded. The rest of the page uses `kinds.now`, whatever
 * kind that is. To add a kind:
 *   a folder here whose index.js makes a Kind, with its line in app.js
 *   a folder of web/extractor with the recipe of its embeddings, with its lines in web/build/kinds.mjs
 *   its prior in the Makefile and scripts/embed/extractor.mjs
 *   for shared files, a module of web/share/page/kinds with its lines in web/build/share.mjs and web/share/parts.js
 *
 * @typedef {object} Sample one thing to teach or to recognise; its receiver closes it
 * @property {string} name of its file, with the position for a piece of a longer file; empty if captured live
 * @property {string} [at] position in a longer file, such as 0:04
 * @property {File} [file] if an <img> can show its file
 * @property {() => Promise<Uint8Array>} thumbnail a small encoded picture, stored with the example; call it before `embed`
 * @property {(edge: number) => Promise<Uint8Array>} picture as `thumbnail`, in a square of `edge` pixels; call it before `embed`
 * @property {() => Promise<Float32Array>} embed its embedding; call it once, last
 * @property {() => Promise<import('../../extractor/session.js').Cells|null>} [cells] its embedding and the cells whose mean it is,
 *   null if the network has none; call it in place of `embed`
 * @property {() => void} close frees its memory
 *
 * @typedef {object} Look one moment of a live source
 * @property {Float32Array|null} embedding null if there is nothing to recognise, such as silence
 * @property {import('../../extractor/session.js').Cells|null} [cells] the cells whose mean it is, on request and if there are any
 * @property {() => Promise<Sample>} sample of this moment, to show and to teach
 *
 * @typedef {object} Source a camera or a microphone, in use from `start` to `close`
 * @property {HTMLElement} element shows it; must be in the document before `start`
 * @property {boolean} open
 * @property {() => Promise<void>} start rejects with an Error whose message is a sentence with the remedy
 * @property {() => Promise<Sample>} sample the current frame or sound, to teach
 * @property {boolean} [mirrored] whether it is shown mirrored
 * @property {(places?: boolean) => Promise<Look>} look the same for live recognition, less exact on a slow device
 * @property {() => void} close for good
 *
 * @typedef {object} Kind
 * @property {string} id stored with a session
 * @property {string} icon of one example
 * @property {string} one the word for one example, such as 'picture'; the plural has an s
 * @property {string} choose label of the button that chooses a file to recognise
 * @property {{name: string, icon: string, hold: string, lookAt: string, senses: [string, string]}} live words of the source: its name ('Camera'),
 *   its icon, the label of the capture button ('Hold to capture'), a status while it recognises, and sees and seen, or hears and heard
 * @property {string} such a possible class, such as 'Mug'
 * @property {string} vary how to make the next example different, such as 'turn it'
 * @property {boolean} others whether a person's own extractors work for it
 * @property {number} interval least milliseconds between two looks
 * @property {number} copy whitened distance below which two examples are the same file, or the same encoded again
 * @property {string} accept types of files, for a field that chooses them
 * @property {(file: {name: string, type: string}) => boolean} claims whether a file's type or name fits this kind
 * @property {(file: File) => Promise<Sample[]>} open the samples of a file; rejects with a sentence that names the file
 * @property {(options: {onLost: (error: Error) => void}) => Source} source
 * @property {(file: File) => HTMLImageElement|HTMLAudioElement} show an <img> or a player for the whole file; the caller revokes its src
 * @property {(thumbnail: Uint8Array) => Promise<void>} [play] plays an example from its thumbnail
 * @property {string} [advice] a sentence for beginners
 * @property {string} [background] a class that is best taught first
 * @property {boolean} samples whether the site has samples of this kind
 * @property {(thumbnail: Uint8Array, name: string) => File} fileOf makes a file to `open` from an example's thumbnail
 * @property {Variant} [variant] of the page's extractor, offered in the settings
 *
 * @typedef {object} Variant
 * @property {string} id of it in the extractor's record
 * @property {string} name on the switch
 * @property {string} hint a sentence below
 * @property {[off: string, on: string]} names of sessions without it and with it
 */
import { MetaqdaError } from '../../base/remote.js';
import { gone } from '../teach/model.js';

/** All kinds by id, and the kind of the open session. @typedef {{all: Record<string, Kind>, now: Kind}} Kinds */
/** @param {Kind[]} all the first one is for sessions without a kind @returns {Kinds} */
export const kindsOf = (all) => ({ all: Object.fromEntries(all.map((kind) => [kind.id, kind])), now: all[0] });

/** @typedef {{id: string, twin: string|null, again: boolean}} Taught id of the example; twin: id of the same picture in another class; again: whether its class has the same picture already */
/** @typedef {Pick<import('../../library/types.js').Engine, 'ready' | 'stored' | 'taught'>} Learner the part of the engine that takes and compares examples */

/**
 * The taught examples nearest to an embedding; none while nothing is taught. `copy` marks examples of the same picture.
 *
 * @param {Pick<Learner, 'ready' | 'taught'>} engine @param {Kind} kind @param {Float32Array} embedding
 */
export async function near(engine, kind, embedding) {
  await engine.ready();
  try {
    return engine.taught.nearest(embedding).map((one) => ({ ...one, copy: one.distance < kind.copy }));
  } catch {
    return []; // the page says elsewhere why there is no answer
  }
}

/**
 * Teaches a sample, and closes it.
 *
 * @param {Learner} engine
 * @param {Kind} kind of the sample
 * @param {() => string} label of the class at that moment, empty if it has gone
 * @param {Sample} sample
 * @param {Float32Array} [embedding] if it is known already
 * @returns {Promise<Taught>}
 */
export async function teach(engine, kind, label, sample, embedding) {
  try {
    const thumbnail = await sample.thumbnail();
    const vector = embedding ?? (await sample.embed());
    const same = (await near(engine, kind, vector)).filter(({ copy }) => copy);
    const twin = same.find((one) => one.label !== label())?.id ?? null;
    const again = same.some((one) => one.label === label());
    const { result } = await engine.stored((taught) => {
      if (!taught.has(label())) gone();
      return taught.addExampleSync(vector, label(), { thumbnail });
    });
    return { id: result, twin, again };
  } finally {
    sample.close();
  }
}

/** Whether an error says that there is nothing to recognise. Its sentence does not name the file. @param {any} error */
export const unseen = (error) => ['no-hand', 'no-speech'].includes(error?.code);

/** Throws an error, whose sentence names the sample if it is about that alone. @param {any} error @param {{name: string}} sample @returns {never} */
export function named(error, { name }) {
  if (!unseen(error)) throw error;
  throw new MetaqdaError(error.code, `“${name}”: ${error.message}`);
}

/**
 * Teaches all samples of a file.
 *
 * @param {Learner} engine
 * @param {Kind} kind
 * @param {() => string} label as for `teach`
 * @param {File} file
 * @returns {Promise<Taught[]>}
 */
export async function teachFile(engine, kind, label, file) {
  const all = [];
  for (const sample of await kind.open(file)) {
    all.push(await teach(engine, kind, label, sample).catch((error) => named(error, sample)));
  }
  return all;
}

/** @type {(() => void)|null} closes the source in use */
let holder = null;
/** Takes back what a part said of a source that failed. */
let takeBack = () => {};

/**
 * Claims the source for one part of the page. Only one source may be open: phones cannot
 * open a camera twice, and two camera lights confuse.
 *
 * @param {() => void} release called when another part takes it
 */
export function takeSource(release) {
  sourceFailed(() => {});
  const former = holder;
  holder = release;
  if (former && former !== release) former();
  changed();
}

/** @param {() => void} release as given to takeSource */
export function leaveSource(release) {
  if (holder !== release) return;
  holder = null;
  changed();
}

/** Notes that a part says why its source failed. That is taken back once any part opens one. @param {() => void} clear */
export function sourceFailed(clear) {
  takeBack();
  takeBack = clear;
}

let changed = () => {};
/** Calls the listener when a part claims or releases the source. @param {() => void} listener */
export const onSource = (listener) => {
  changed = listener;
};

/** Makes the part that has claimed the source close it. */
export const releaseSource = () => holder?.();

/** Whether a part of the page has claimed the source. */
export const sourceTaken = () => holder !== null;
