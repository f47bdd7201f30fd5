// @ts-check
/** What tests call of the page's modules by themselves. 'make build' bundles it into build/tests, which the tests' server answers below /tests/. */
export { decodePicture, loadExtractor } from '../../extractor/index.js';
export { loadEngine } from '../../library/page.js';
export { teach } from '../../ui/kinds/index.js';
export { say, toast } from '../../ui/kit/announce.js';
export { withThumbnails } from '../../ui/kit/thumbnails.js';
