// @ts-check
/** An extractor that is a plain function with a manifest: web/extractor/README.md in the source describes it. */
export { functionExtractor } from '../extractor/own/function.js';
