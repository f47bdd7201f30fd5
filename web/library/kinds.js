// @ts-check
/** The page's extractors of sounds and hands. */
/** @typedef {import('../extractor/load.js').KindExtractor} KindExtractor */
/** @typedef {import('../extractor/hands/recipe.js').Hand} Hand */
/** @typedef {import('../extractor/sounds/session.js').Spectrum} Spectrum */
export { kindRecord, loadKind } from '../extractor/load.js';
export { resample } from '../extractor/sounds/resample.js';
