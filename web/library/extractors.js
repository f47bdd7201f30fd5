// @ts-check
/** Feature extractors: that of the page, and others that take its place. */
export * from '../extractor/index.js';
