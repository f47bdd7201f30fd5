// @ts-check
/** metaqda: few-shot classification, on the device. README.md has the whole of it. */
export { Classifier } from './classifier.js';
export { createClassifier, openClassifier } from './create.js';
export { init } from './engine.js';
export { MetaqdaError } from '../base/remote.js';
/** @typedef {import('./options.js').Prediction} Prediction */
/** @typedef {import('./options.js').LeftOut} LeftOut */
/** @typedef {import('./options.js').BatchOptions} BatchOptions */
/** @typedef {import('./engine.js').InitOptions} InitOptions */
/** @typedef {import('./vectors.js').Vector} Vector */
/**
 * @template [Input=unknown]
 * @typedef {import('./options.js').Options<Input>} Options
 */
/**
 * @template Input
 * @typedef {import('./options.js').Extractor<Input>} Extractor
 */
