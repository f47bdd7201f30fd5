// @ts-check
/** Extractors of one's own that are kept on the device. */
export * from '../extractor/kept.js';
