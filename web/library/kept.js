// @ts-check
/** Extractors of the user that are kept on the device. */
export * from '../extractor/own/kept.js';
export { identityOf } from '../extractor/manifest.js';
export { described, judged, networkAmong, proposalOf, spread } from '../extractor/own/propose.js';
