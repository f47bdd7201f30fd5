// @ts-check
/**
 * The program of a shared file, one script for the page and for its worker. The page makes
 * no requests: everything is in blocks of the file (../assemble.js).
 */
import { serve } from '../../extractor/serve.js';
import { room } from './extractor.js';

const script = /** @type {HTMLScriptElement} */ (globalThis.document?.currentScript);
// Bundled into this file. Only the page starts it, because views need a document.
if (script) void import('./page.js').then(({ startPage }) => startPage(script));
else serve(room.start);
