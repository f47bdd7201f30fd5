// @ts-check
/** metaqda: few-shot classification, on the device. README.md has the whole of it. */
export { Classifier, createClassifier, openClassifier } from './classifier.js';
export { init } from './engine.js';
export { MetaqdaError } from './errors.js';
/** @typedef {import('./classifier.js').Prediction} Prediction */
/** @typedef {import('./classifier.js').LeftOut} LeftOut */
/** @typedef {import('./classifier.js').BatchOptions} BatchOptions */
/** @typedef {import('./engine.js').InitOptions} InitOptions */
/** @typedef {import('./vectors.js').Vector} Vector */
/**
 * @template [Input=unknown]
 * @typedef {import('./classifier.js').Options<Input>} Options
 */
/**
 * @template Input
 * @typedef {import('./classifier.js').Extractor<Input>} Extractor
 */
