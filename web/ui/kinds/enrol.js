// @ts-check
/** A picture, file or frame, through the extractor: enrolled in a class, or as the embedding to ask about. */
import { decode, preview, THUMBNAIL } from './pictures/decode.js';

/** @typedef {import('../../library/types.js').Engine} Engine */
/** @typedef {import('../../library/types.js').Extractor} Extractor */

/** Joins the engine with an extractor that may still be loading. */
export class Enrolment {
  /**
   * @param {Engine} engine
   * @param {{now: Promise<Extractor>}} reader
   */
  constructor(engine, reader) {
    this.engine = engine;
    this.reader = reader;
  }

  /** The one that reads pictures now. */
  get extractor() {
    return this.reader.now;
  }

  /**
   * Adds a file to a class.
   *
   * @param {string} classId
   * @param {File} file
   * @returns {Promise<string>} the id of the example
   */
  async enrolFile(classId, file) {
    return this.#use(await decode(file), (bitmap) => this.#enrol(classId, bitmap));
  }

  /**
   * Adds a file to a class whose embedding is there already.
   *
   * @param {string} classId
   * @param {File} file
   * @param {Float32Array} embedding
   * @returns {Promise<string>} the id of the example
   */
  async enrolKnown(classId, file, embedding) {
    const small = await this.#use(await decode(file), (bitmap) => preview(bitmap, THUMBNAIL));
    return (await this.engine.addExample(classId, embedding, small)).id;
  }

  /**
   * Adds a video frame to a class.
   *
   * @param {string} classId
   * @param {ImageBitmap} frame closed afterwards
   */
  enrolFrame(classId, frame) {
    return this.#use(frame, (bitmap) => this.#enrol(classId, bitmap));
  }

  /**
   * The embedding of a file, and a larger picture of what was looked at.
   *
   * @param {File} file
   * @param {number} edge of the picture, in pixels
   */
  async embedFile(file, edge) {
    return this.#use(await decode(file), async (bitmap) => {
      const picture = await preview(bitmap, edge);
      return { embedding: await this.#embed(bitmap), picture };
    });
  }

  /**
   * What the embedding of a picture would be without each of grid x grid parts of it.
   *
   * @param {Blob} picture
   * @param {number} grid
   */
  async leaveOutParts(picture, grid) {
    const file = picture instanceof File ? picture : new File([picture], 'the picture', { type: picture.type });
    return this.#use(await decode(file), async (bitmap) => (await this.extractor).leaveOut(bitmap, grid));
  }

  /**
   * The embedding of a video frame, by all views or only the first.
   *
   * @param {ImageBitmap} frame closed afterwards
   * @param {import('./pictures/pace.js').Pace} pace says which, and is told how long it took
   */
  embedFrame(frame, pace) {
    return this.#use(frame, async (bitmap) => {
      const extractor = await this.extractor;
      const views = pace.all ? extractor.views : 1;
      const begun = performance.now();
      const embedding = await extractor.embed(bitmap, views);
      pace.took((performance.now() - begun) * extractor.views / views, embedding);
      return embedding;
    });
  }

  /**
   * @template T
   * @param {ImageBitmap} bitmap
   * @param {(bitmap: ImageBitmap) => Promise<T>} work
   */
  async #use(bitmap, work) {
    try {
      return await work(bitmap);
    } finally {
      bitmap.close();
    }
  }

  /** @param {ImageBitmap} bitmap */
  async #embed(bitmap) {
    return (await this.extractor).embed(bitmap);
  }

  /**
   * @param {string} classId
   * @param {ImageBitmap} bitmap
   */
  async #enrol(classId, bitmap) {
    // The thumbnail is drawn first: the extractor may transfer the bitmap away.
    const small = await preview(bitmap, THUMBNAIL);
    const embedding = await this.#embed(bitmap);
    return (await this.engine.addExample(classId, embedding, small)).id;
  }
}
