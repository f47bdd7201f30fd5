// @ts-check
/**
 * The program of an extension for TurboWarp, one script for the window and for the extractor's worker. It makes no requests:
 * all data are in blocks of the file, in the form of ../assemble.js.
 *
 * The build wraps it in a function with the arguments Scratch, blocks, about and source; source is the text of that function.
 * The worker runs the same text without arguments.
 */
import { serve } from '../../extractor/serve.js';
import { init, openClassifier } from '../../library/index.js';
import { unpacked } from '../assemble.js';
import { room, startExtractor } from '../page/extractor.js';
import { Blocks } from './blocks.js';

/** @import {About} from '../assemble.js' */
/** @typedef {{Scratch: import('./blocks.js').Scratch, blocks?: Record<string, string>, about: Pick<About, 'name' | 'classes' | 'extractor'>, source: string}} Given */

/** @param {Given} given */
export function begin({ Scratch, blocks, about, source }) {
  if (!blocks) {
    serve(room.start);
    return;
  }
  if (!Scratch.extensions.unsandboxed)
    throw new Error('This extension needs the camera or the microphone: load it again with “Run extension without sandbox” ticked.');
  const read = (/** @type {string} */ name) => unpacked(blocks[name]);
  Scratch.extensions.register(
    new Blocks(Scratch, /** @type {any} */ (room).sense(Scratch), about.name, about.classes, async () => {
      const [extractor] = await Promise.all([startExtractor(about.extractor, read, source), read('engine').then((wasm) => init({ wasm }))]);
      const { id, sha256 } = about.extractor;
      return openClassifier(await read('classifier'), {
        prior: await read('prior'),
        extractor: { id, sha256, embed: (/** @type {any} */ input) => extractor.embed(input) },
      });
    }),
  );
}
