// @ts-check
/**
 * The program of a shared file, one script for the page and for its worker. The page asks
 * nothing of anybody: all that it needs lies beside it, in blocks (../assemble.js).
 */
import { serve } from '../../extractor/serve.js';
import { room } from './extractor.js';

const script = /** @type {HTMLScriptElement} */ (globalThis.document?.currentScript);
// Bundled into this file, and begun in the page alone: the views need a document.
if (script) void import('./page.js').then(({ startPage }) => startPage(script));
else serve(room.start);
