// @ts-check
/** One progress bar for everything the first load brings. */

/** @import {OnProgress} from '../../library/types.js' */

/** Sums the bytes of several downloads that report by themselves. */
export class LoadProgress {
  /** @type {Map<string, {loaded: number, total: number}>} */
  #parts = new Map();

  /** @param {(loaded: number, total: number) => void} onChange bytes */
  constructor(onChange) {
    this.onChange = onChange;
  }

  /**
   * Adds a part with its expected size, so that the bar does not jump back when
   * the part starts.
   *
   * @param {string} name
   * @param {number} total bytes
   * @returns {OnProgress}
   */
  part(name, total) {
    this.#parts.set(name, { loaded: 0, total });
    return (progress) => {
      const now = /** @type {{loaded: number, total: number}} */ (this.#parts.get(name));
      now.loaded = progress.loaded;
      now.total = Math.max(progress.total || now.total, progress.loaded);
      let [loaded, all] = [0, 0];
      for (const part of this.#parts.values()) {
        loaded += part.loaded;
        all += part.total;
      }
      this.onChange(loaded, all);
    };
  }
}

/** "1.2 of 3.4 MB". @param {number} loaded bytes @param {number} total bytes */
export function megabytes(loaded, total) {
  return `${(loaded / 1e6).toFixed(1)} of ${(total / 1e6).toFixed(1)} MB`;
}
