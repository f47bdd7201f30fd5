// @ts-check
/** Pictures, from files and the camera, read by a feature extractor. */
import { el } from '../../kit/dom.js';
import { Camera } from './camera.js';
import { claimsPicture, decode, drawn, isDrawing, preview, THUMBNAIL } from './decode.js';
import { Pace } from './pace.js';

/** @import {Kind, Sample} from '../index.js' */
/** @import {Cells} from '../../../extractor/session.js' */
/** @typedef {{views: number, embed: (picture: ImageBitmap, views?: number) => Promise<Float32Array>, cells: (picture: ImageBitmap, views?: number) => Promise<Cells|null>}} Extractor */

/** Edge of the square that a live frame is kept in, in pixels. */
const EDGE = 480;

/** @param {() => Promise<Extractor>} extractor that reads pictures now @returns {Kind} */
export function pictures(extractor) {
  return {
    id: 'pictures',
    icon: 'picture',
    one: 'picture',
    such: 'Mug',
    vary: 'turn it, or change the background',
    others: true,
    interval: 150,
    copy: 0.5,
    samples: true,
    accept: 'image/*',
    claims: claimsPicture,
    choose: 'Choose a picture',
    live: { name: 'Camera', icon: 'camera', hold: 'Hold to capture', lookAt: 'Recognising what the camera sees.', senses: ['sees', 'seen'] },
    open: async (file) => [{ ...sampleOf(await decode(file), file.name, extractor), ...(!isDrawing(file) && { file }) }],
    fileOf: (thumbnail, name) => new File([new Uint8Array(thumbnail)], name),
    source: (options) => new CameraSource(extractor, options),
    show: (file) => el('img', { src: URL.createObjectURL(file), alt: file.name }),
  };
}

/** @param {ImageBitmap} bitmap @param {string} name @param {() => Promise<Extractor>} extractor @returns {Sample} */
function sampleOf(bitmap, name, extractor) {
  return {
    name,
    thumbnail: () => preview(bitmap, THUMBNAIL),
    picture: (edge) => preview(bitmap, edge),
    embed: async () => (await extractor()).embed(bitmap),
    cells: async () => (await extractor()).cells(bitmap),
    close: () => bitmap.close(),
  };
}

/** The camera, a frame at a time. */
export class CameraSource {
  #pace = new Pace();

  /** @param {() => Promise<Extractor>} extractor @param {{onLost: (error: Error) => void}} options */
  constructor(extractor, options) {
    this.extractor = extractor;
    this.camera = new Camera(options);
    this.element = el('div', { class: 'video-frame' }, this.camera.video, this.camera.switchButton, this.camera.note);
  }

  get open() {
    return this.camera.open;
  }

  get mirrored() {
    return this.camera.video.classList.contains('mirrored');
  }

  start() {
    return this.camera.start();
  }

  async sample() {
    return sampleOf(await this.camera.frame(), '', this.extractor);
  }

  /** Embeds the current frame: by all views if the device is fast enough (see Pace), else by one. @param {boolean} [places] whether to return the cells, too; they are of all views */
  async look(places = false) {
    const frame = await this.camera.frame();
    try {
      const still = drawn(frame, EDGE);
      const cells = places ? await (await this.extractor()).cells(frame) : null;
      return {
        cells,
        embedding: cells?.embedding ?? (await this.read(frame)),
        sample: async () => sampleOf(await createImageBitmap(still), '', this.extractor),
      };
    } finally {
      frame.close();
    }
  }

  /** @param {ImageBitmap} frame @returns {Promise<Float32Array|null>} null where there is nothing to be recognised */
  async read(frame) {
    const extractor = await this.extractor();
    const views = this.#pace.all ? extractor.views : 1;
    const begun = performance.now();
    const embedding = await extractor.embed(frame, views);
    this.#pace.took(((performance.now() - begun) * extractor.views) / views, embedding);
    return embedding;
  }

  close() {
    this.camera.close();
  }
}
