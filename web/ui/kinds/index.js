// @ts-check
/**
 * Kinds of what a session is about: pictures, and whatever has a folder beside that of
 * pictures. What differs between kinds, how an example is captured, drawn and embedded, is
 * behind `Kind`; the rest of the page asks `kinds.now` and never which one that is. To add a
 * kind: a folder here whose index.js makes a Kind, with its line in app.js; one of web/extractor
 * with the recipe of its embeddings, with its lines in web/build/kinds.mjs; its prior in the
 * Makefile and scripts/embed/extractor.mjs; and, where it is to go out as a file, a module of
 * web/share/page/kinds with its lines in web/build/share.mjs and web/share/parts.js.
 *
 * @typedef {object} Sample one thing, to be taught or asked about; whoever got it closes it
 * @property {string} name of its file, for a piece of a longer one with its place in it; empty where it was captured live
 * @property {string} [at] where in a longer file it begins, such as 0:04
 * @property {File} [file] that an <img> shows as it is; missing where there is none
 * @property {() => Promise<Uint8Array>} thumbnail a small encoded picture, kept with the example; asked for before `embed`
 * @property {(edge: number) => Promise<Uint8Array>} picture as `thumbnail`, for a square of so many pixels; asked for before `embed`
 * @property {() => Promise<Float32Array>} embed the numbers that it is compared by, asked for once, last
 * @property {() => void} close frees what it holds
 *
 * @typedef {object} Look what a live source had before it at one moment
 * @property {Float32Array|null} embedding null where there is nothing to be recognised, such as silence
 * @property {() => Promise<Sample>} sample of it, to be shown beside its answer and taught
 *
 * @typedef {object} Source what captures: a camera, a microphone. It is in use from start to close
 * @property {HTMLElement} element what it shows of itself; in the document before `start`
 * @property {boolean} open
 * @property {() => Promise<void>} start rejects with an Error whose message is a sentence with the remedy
 * @property {() => Promise<Sample>} sample what is before it, to be taught
 * @property {() => Promise<Look>} look the same to be recognised live, as coarsely as a slow device needs
 * @property {() => void} close for good
 *
 * @typedef {object} Kind
 * @property {string} id kept with a session
 * @property {string} icon of one example
 * @property {string} one what one example is called, such as 'picture'; several have an s
 * @property {string} choose what the button says that chooses one to recognise
 * @property {{name: string, icon: string, hold: string, lookAt: string}} live the words of the source: its name ('Camera'), icon,
 *   what the button says that is held to capture ('Hold to capture'), what is said while it recognises
 * @property {string} such a class that there might be, such as 'Mug'
 * @property {string} vary what makes the next example unlike the ones before, as in 'turn it'
 * @property {boolean} others whether extractors that a person brings read it
 * @property {number} interval least milliseconds between two looks
 * @property {number} copy whitened distance below which two are the same one, encoded anew at most; others are further apart
 * @property {string} accept types of files, for a field that chooses them
 * @property {(file: {name: string, type: string}) => boolean} claims whether a file says that it is of this kind
 * @property {(file: File) => Promise<Sample[]>} open what is in a file, one or several pieces; rejects with a sentence that names the file
 * @property {(options: {onLost: (error: Error) => void}) => Source} source
 * @property {(file: File) => HTMLImageElement|HTMLAudioElement} show a file in full: an <img>, a player; whoever shows it revokes its src
 * @property {(thumbnail: Uint8Array) => Promise<void>} [play] lets an example be heard, of what is kept with it
 * @property {string} [advice] a sentence for who begins
 * @property {string} [background] the class that is best taught first, where there is one
 * @property {boolean} samples whether the samples to try are of this kind
 * @property {(thumbnail: Uint8Array, name: string) => File} kept what is kept with an example, as a file to `open`
 * @property {Variant} [variant] of the page's extractor, which the settings offer
 *
 * @typedef {object} Variant
 * @property {string} id of it in the extractor's record
 * @property {string} name on the switch
 * @property {string} hint a sentence below
 * @property {[off: string, on: string]} names of sessions without it and with it
 */
import { MetaqdaError } from '../../base/remote.js';

/**
 * The error to show for whatever opening a source threw: one of ours as it is, one of the browser by its name.
 *
 * @param {unknown} error @param {string} source such as 'camera' @param {string} things that may come from files instead
 */
export function sourceError(error, source, things) {
  if (error instanceof MetaqdaError) return error;
  const denied = ['denied', `The browser may not use the ${source}: allow it for this page beside the address bar, then try again.`];
  /** @type {Record<string, string[]>} by the names of the browser's errors */
  const reasons = {
    NotAllowedError: denied, SecurityError: denied,
    NotFoundError: ['missing', `No ${source} was found: connect one, or add ${things} from files.`],
    OverconstrainedError: ['missing', `No suitable ${source} was found: connect another one, or add ${things} from files.`],
    NotReadableError: ['busy', `The ${source} is in use by another program: close that program and try again.`],
    AbortError: ['busy', `The ${source} stopped while it was starting: try again.`],
  };
  const [code, text] = reasons[error instanceof Error ? error.name : ''] ?? ['failed', `The ${source} could not be started: try again, or add ${things} from files.`];
  return new MetaqdaError(code, text);
}

/**
 * Throws where a page may never use a source.
 *
 * @param {{isSecureContext: boolean, navigator: {mediaDevices?: MediaDevices}}} scope @param {string} source such as 'camera' @param {string} things that may come from files instead
 */
export function mediaDevices(scope, source, things) {
  if (!scope.isSecureContext) throw insecure(source);
  const devices = scope.navigator.mediaDevices;
  if (!devices?.getUserMedia) throw new MetaqdaError('missing', `This browser offers no ${source}: add ${things} from files instead.`);
  return devices;
}

/** @param {string} source such as 'camera' */
export const insecure = (source) => new MetaqdaError('insecure', `The ${source} needs a secure page: open this page by https or on localhost.`);

/** All kinds by their ids, and that of the open session. @typedef {{all: Record<string, Kind>, now: Kind}} Kinds */
/** @param {Kind[]} all the first is that of sessions that name none @returns {Kinds} */
export const kindsOf = (all) => ({ all: Object.fromEntries(all.map((kind) => [kind.id, kind])), now: all[0] });

/** @typedef {{id: string, twin: {class: string, example: string}|null}} Taught id of the example; the same picture as it is taught in another class */
/** @typedef {Pick<import('../../library/types.js').Engine, 'addExample' | 'nearest'>} Engine */

/**
 * The taught examples nearest to an embedding, none while there is nothing to compare with. Those of the same picture are
 * a `copy`.
 *
 * @param {Pick<Engine, 'nearest'>} engine @param {Kind} kind @param {Float32Array} embedding
 */
export const near = async (engine, kind, embedding) => (await engine.nearest(embedding, 4).catch(() => [])).map((one) => ({ ...one, copy: one.distance < kind.copy }));

/**
 * Teaches a sample, and closes it.
 *
 * @param {Engine} engine
 * @param {Kind} kind of the sample
 * @param {string} classId
 * @param {Sample} sample
 * @param {Float32Array} [embedding] where it is known already
 * @returns {Promise<Taught>}
 */
export async function teach(engine, kind, classId, sample, embedding) {
  try {
    const thumbnail = await sample.thumbnail();
    const vector = embedding ?? await sample.embed();
    const nearest = await near(engine, kind, vector);
    const twin = nearest.find((one) => one.class !== classId && one.copy) ?? null;
    const { id } = await engine.addExample(classId, vector, thumbnail);
    return { id, twin };
  } finally {
    sample.close();
  }
}

/**
 * Teaches all that is in a file.
 *
 * @param {Engine} engine
 * @param {Kind} kind
 * @param {string} classId
 * @param {File} file
 * @returns {Promise<Taught[]>}
 */
export async function teachFile(engine, kind, classId, file) {
  const all = [];
  for (const sample of await kind.open(file)) all.push(await teach(engine, kind, classId, sample));
  return all;
}

/** @type {(() => void)|null} lets go of whichever source is in use */
let holder = null;

/**
 * Takes the one source that may be open, for one part of the page: phones cannot open
 * a camera twice, and two lights confuse.
 *
 * @param {() => void} release called when another part takes it
 */
export function takeSource(release) {
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

let changed = () => {};
/** Tells when a part has taken the source, and when it has let go of it. @param {() => void} listener */
export const onSource = (listener) => { changed = listener; };

/** Whether some part of the page has the source. */
export const sourceTaken = () => holder !== null;
