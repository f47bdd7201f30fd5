// @ts-check
/** Runs in the audio thread: passes on the mean of the microphone's channels in blocks of about 20 ms. */

const BLOCK = 1024;

// @ts-ignore: an AudioWorkletGlobalScope has it
class Taker extends AudioWorkletProcessor {
  #block = new Float32Array(BLOCK);
  #filled = 0;

  /** @param {Float32Array[][]} inputs */
  process([channels]) {
    const [first] = channels ?? [];
    for (let i = 0; i < (first?.length ?? 0); i++) {
      let sum = 0;
      for (let c = 0; c < channels.length; c++) sum += channels[c][i];
      this.#block[this.#filled++] = sum / channels.length;
      if (this.#filled < BLOCK) continue;
      // @ts-ignore
      this.port.postMessage(this.#block, [this.#block.buffer]);
      this.#block = new Float32Array(BLOCK);
      this.#filled = 0;
    }
    return true;
  }
}

// @ts-ignore: an AudioWorkletGlobalScope has it
registerProcessor('taker', Taker);
