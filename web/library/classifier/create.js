// @ts-check
/** Makes classifiers, new or from files. */
import { Classifier } from './classifier.js';
import { acquire, release } from '../engine.js';
import { bytesOf } from '../files.js';
import { known, OPENING, OPTIONS } from './options.js';

/** @import {Exports} from '../../engine/exports.js' */
/** @import {Options} from './options.js' */

/**
 * Creates a classifier that knows no class yet.
 *
 * @template [Input=unknown]
 * @param {Options<Input>} [options]
 * @returns {Promise<Classifier<Input>>}
 */
export async function createClassifier(options = {}) {
  known(options, OPTIONS);
  const { nonePrior = 0.2, name = '', scale, onNote = console.warn } = options;
  return made(
    options,
    (engine, sum) => {
      const lengths = engine.write(null, sum, name, scale ?? '');
      return engine.call('mq_create', nonePrior, ...lengths);
    },
    onNote,
  );
}

/**
 * Opens a file that `save` or the page of metaqda wrote.
 *
 * Without `options.prior` it uses the prior that the file names, if another classifier that is still in use has loaded it.
 * `options.prior` may be the file of that prior, or of another one to use in its place.
 *
 * @template [Input=unknown]
 * @param {import('../files.js').File} file
 * @param {Pick<Options<Input>, 'extractor' | 'prior'>} [options]
 * @returns {Promise<Classifier<Input>>}
 */
export async function openClassifier(file, options = {}) {
  known(options, OPENING);
  const bytes = await bytesOf(file);
  return made(options, (engine, sum) => engine.open(bytes, sum));
}

/**
 * @template Input
 * @param {Options<Input>} options
 * @param {(engine: Exports, sum: string) => number} make calls the engine and returns its handle
 * @param {Options<Input>['onNote']} [onNote]
 */
async function made(options, make, onNote) {
  const prior = options.prior === undefined ? null : await bytesOf(options.prior);
  const engine = await acquire();
  /** @type {Classifier<Input> | undefined} */
  let classifier;
  try {
    classifier = new Classifier(engine, make(engine, prior ? engine.prior(prior) : ''), options.extractor, onNote);
    return classifier;
  } catch (error) {
    if (!classifier) release();
    throw error;
  }
}
