// @ts-check
/** Feature extractors: the page's own, and others that replace it. */
export * from '../extractor/index.js';
