// @ts-check
/**
 * The program of a shared file, one script for the page and for its worker. The page asks
 * nothing of anybody: all that it needs lies beside it, in blocks (../assemble.js).
 */
import { serveExtractor } from './extractor.js';
import { startPage } from './page.js';

if (globalThis.document) startPage(/** @type {HTMLScriptElement} */ (document.currentScript));
else serveExtractor();
