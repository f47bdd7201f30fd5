// @ts-check
/** What the kinds have in common that are read by networks with a recipe of their own. */
import { fetchedOf } from '../../../extractor/networks.js';

/** @type {import('../extractor.js').Room['filesOf']} */
export const filesOf = (record, contents, wasm) => fetchedOf(record, contents, wasm);

/** @type {import('../extractor.js').Room['asked']} */
export const asked = (input) => input;
