// @ts-check
/** New classifiers, and those of files. */
import { Classifier } from './classifier.js';
import { acquire, release } from '../engine.js';
import { bytesOf } from '../files.js';
import { MetaqdaError } from '../../base/remote.js';
import { known, OPTIONS, text } from './options.js';

/** @import {Engine} from '../engine.js' */
/** @import {Options} from './options.js' */

/**
 * Creates a classifier that knows no class yet.
 *
 * @template [Input=unknown]
 * @param {Options<Input>} [options]
 * @returns {Promise<Classifier<Input>>}
 */
export async function createClassifier(options = {}) {
  const { nonePrior = 0.2, name = '', scale } = options;
  if (scale !== undefined && scale !== 'standardise') throw new MetaqdaError('argument', `The option scale is ${String(scale)}: 'standardise' or nothing can be.`);
  return made(options, (engine, sum) => {
    const [n, m] = engine.write(null, sum, text(name, 'name'));
    return engine.program.exports.mq_create(nonePrior, scale ? 1 : 0, n, m);
  });
}

/**
 * Opens what `save` wrote, or what the page of metaqda exported.
 *
 * The prior that it names is taken if a classifier of this realm was created with it; else `options.prior`
 * must be its file. Another prior there serves in its place.
 *
 * @template [Input=unknown]
 * @param {ArrayBuffer | ArrayBufferView | Response | URL | string} file
 * @param {Pick<Options<Input>, 'extractor' | 'prior'>} [options]
 * @returns {Promise<Classifier<Input>>}
 */
export async function openClassifier(file, options = {}) {
  known(options, ['extractor', 'prior']);
  const bytes = await bytesOf(file);
  return made(options, (engine, sum) => {
    const [n, m] = engine.writeBytes(bytes, sum);
    return engine.program.exports.mq_open(n, m);
  });
}

/**
 * @template Input
 * @param {Options<Input>} options
 * @param {(engine: Engine, sum: string) => number} make calls the engine and returns its handle
 */
async function made(options, make) {
  known(options, OPTIONS);
  const prior = options.prior === undefined ? null : await bytesOf(options.prior);
  const engine = await acquire();
  /** @type {Classifier<Input> | undefined} */
  let classifier;
  try {
    let sum = '';
    if (prior) {
      engine.writeBytes(prior, '');
      sum = new TextDecoder().decode(engine.reply(engine.checked(engine.program.exports.mq_prior(prior.length))));
    }
    classifier = new Classifier(engine, engine.checked(make(engine, sum)), options.extractor);
    return classifier;
  } catch (error) {
    if (!classifier) release();
    throw error;
  }
}
