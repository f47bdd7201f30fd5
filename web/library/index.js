// @ts-check
/** metaqda: few-shot classification, on the device. README.md describes the whole package. */
export { Classifier } from './classifier/classifier.js';
export { createClassifier, openClassifier } from './classifier/create.js';
export { init } from './engine.js';
export { MetaqdaError } from '../base/remote.js';
/** @typedef {import('../base/remote.js').ErrorCode} ErrorCode */
/** @typedef {import('./classifier/options.js').Prediction} Prediction */
/** @typedef {import('./classifier/options.js').LeftOut} LeftOut */
/** @typedef {import('./classifier/options.js').Influence} Influence */
/** @typedef {import('./classifier/options.js').Near} Near */
/** @typedef {import('./classifier/options.js').Need} Need */
/** @typedef {import('./classifier/options.js').PredictedSet} PredictedSet */
/** @typedef {import('./classifier/options.js').Explanation} Explanation */
/** @typedef {import('./classifier/options.js').Anomaly} Anomaly */
/** @typedef {import('../extractor/session.js').Cells} Cells */
/** @typedef {import('./classifier/options.js').BatchOptions} BatchOptions */
/** @typedef {import('./classifier/watch.js').Watch} Watch */
/** @typedef {import('./classifier/watch.js').Shown} Shown */
/** @typedef {import('./classifier/watch.js').WatchEvent} WatchEvent */
/** @typedef {import('./classifier/watch.js').WatchOptions} WatchOptions */
/** @typedef {import('./engine.js').InitOptions} InitOptions */
/** @typedef {import('./vectors.js').Vector} Vector */
/**
 * @template [Input=unknown]
 * @typedef {import('./classifier/options.js').Options<Input>} Options
 */
/**
 * @template Input
 * @typedef {import('./classifier/options.js').Extractor<Input>} Extractor
 */
