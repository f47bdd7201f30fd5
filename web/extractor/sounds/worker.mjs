// @ts-check
/**
 * The worker of the extractor of sounds. It answers:
 *   load  args: Fetched                 result: true
 *   embed args: {samples, rate}         result: Float32Array (transferred)
 *   spectrum, the same args             result: Spectrum
 */
import { answer } from '../../base/remote.js';
// @ts-ignore: the bundle built from start.mjs stands beside the built worker
import { start } from './ear.js';

/** @type {Awaited<ReturnType<typeof import('./start.mjs').start>>} */
let ear;

answer({
  async load(/** @type {import('../networks.js').Fetched} */ fetched) {
    ear = await start(fetched);
    return true;
  },
  embed: (/** @type {import('./session.js').Sound} */ sound) => ear.embed(sound),
  spectrum: (/** @type {import('./session.js').Sound} */ sound) => ear.spectrum(sound),
}, { code: 'extractor-failed', transfer: (result) => (result instanceof Float32Array ? [result.buffer] : []) });
