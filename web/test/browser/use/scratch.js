// @ts-check
/** scratch-vm of npm in a page, with the extension that "Use it" saved. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import sharp from 'sharp';
import { root } from '../harness.js';

/** @import {Page} from 'playwright-core' */

export const machine = path.join(root, 'web/test/scratch/node_modules/scratch-vm/dist/web/scratch-vm.min.js');

/** Writes a page with the machine and an extension beside it. @param {string} site a new folder @param {string} file the extension */
export function scratchSite(site, file) {
  mkdirSync(site);
  writeFileSync(path.join(site, 'extension.js'), readFileSync(file));
  writeFileSync(path.join(site, 'vm.js'), readFileSync(machine));
  writeFileSync(path.join(site, 'index.html'), '<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><script src="vm.js"></script>');
  return site;
}

/** Loads the extension as TurboWarp does. @param {Page} page @param {boolean} [unsandboxed] */
export const loaded = (page, unsandboxed = true) =>
  page.evaluate(async (free) => {
    const scope = /** @type {any} */ (globalThis);
    const vm = (scope.vm ??= new scope.VirtualMachine());
    vm.setVideoProvider({
      videoReady: true,
      enableVideo: async () => {},
      disableVideo: () => {},
      getFrame: (/** @type {{format: string}} */ { format }) => (format === 'image-data' ? scope.shown : null),
    });
    const register = (/** @type {any} */ extension) => {
      const info = extension.getInfo();
      Object.assign(scope, { extension, info, id: info.id });
      vm.extensionManager._loadedExtensions.set(scope.id, vm.extensionManager._registerInternalExtension(extension));
    };
    // As TurboWarp hands it to an extension.
    scope.Scratch = {
      vm,
      BlockType: { COMMAND: 'command', REPORTER: 'reporter', HAT: 'hat' },
      ArgumentType: { STRING: 'string' },
      extensions: { unsandboxed: free, register },
    };
    await new Promise((resolve, reject) => {
      addEventListener(
        'error',
        (event) => {
          event.preventDefault();
          reject(new Error(event.message));
        },
        { once: true },
      );
      document.head.append(Object.assign(document.createElement('script'), { src: 'extension.js', onload: resolve }));
    });
  }, unsandboxed);

/** Calls a block as the machine does, and waits for its answer. @param {Page} page @param {string} opcode @param {object} [args] */
export const call = (page, opcode, args = {}) =>
  page.evaluate(
    async ([name, given]) => {
      const { vm, id } = /** @type {any} */ (globalThis);
      return vm.runtime.getOpcodeFunction(`${id}_${name}`)(given, {});
    },
    /** @type {const} */ ([opcode, args]),
  );

/** A PNG picture of the size of Scratch's camera. @param {string|Buffer} picture @returns {Promise<Buffer>} */
export const frame = (picture) => sharp(picture).resize(480, 360, { fit: 'contain', background: '#fff' }).flatten({ background: '#fff' }).png().toBuffer();

/** Holds a picture before the camera. @param {Page} page @param {Buffer} png */
export const hold = async (page, png) =>
  page.evaluate(async (text) => {
    const bitmap = await createImageBitmap(await (await fetch(`data:image/png;base64,${text}`)).blob(), {
      colorSpaceConversion: 'none',
      premultiplyAlpha: 'none',
    });
    const context = /** @type {OffscreenCanvasRenderingContext2D} */ (new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d'));
    context.drawImage(bitmap, 0, 0);
    Object.assign(globalThis, { shown: context.getImageData(0, 0, bitmap.width, bitmap.height) });
  }, png.toString('base64'));
