// @ts-check
/** The microphone, which gives the last second of sound at any time. */
import { mediaDevices, sourceError, soundless } from '../base/media.js';
import { sleep } from '../base/task.js';

/** Seconds of sound that are kept: about a word. The page recognises as much at a time. */
const HEARD = 1;
/** Most samples that an AnalyserNode keeps. */
const SIZE = 32_768;
/** Milliseconds after which a browser that starts no sound counts as waiting for a press. */
const PATIENCE = 4000;

/**
 * @typedef {object} Listening
 * @property {() => import('../extractor/sounds/session.js').Sound} sound the last second
 * @property {() => void} close switches it off
 */

/**
 * Asks the person for the microphone, and resolves once there is a second of sound. Rejects with a sentence. Call it after a
 * press: browsers start no sound before one.
 *
 * @returns {Promise<Listening>}
 */
export async function openMicrophone() {
  // Filters that improve speech for people remove features of other sounds.
  const audio = { echoCancellation: false, noiseSuppression: false, autoGainControl: false };
  const refuse = (/** @type {unknown} */ error) => Promise.reject(sourceError(error, 'microphone'));
  const stream = await mediaDevices(globalThis, 'microphone').getUserMedia({ audio }).catch(refuse);
  /** @type {AudioContext} */
  let context;
  const close = () => {
    for (const track of stream.getTracks()) track.stop();
    context?.close().catch(() => {}); // it is closed already
  };
  try {
    context = new AudioContext();
    context.resume().catch(() => {}); // it may wait for a press, without end
    const rate = context.sampleRate;
    const source = context.createMediaStreamSource(stream);
    // Each delay feeds a node with the samples that the previous node no longer has.
    const parts = Array.from({ length: Math.ceil((HEARD * rate) / SIZE) }, (_, i) => {
      const [delay, part] = [context.createDelay(HEARD), new AnalyserNode(context, { fftSize: SIZE })];
      delay.delayTime.value = (i * SIZE) / rate;
      source.connect(i ? delay : part);
      if (i) delay.connect(part);
      part.connect(new GainNode(context, { gain: 0 })).connect(context.destination); // some browsers run only what leads to the speakers
      return part;
    }).reverse();
    const sound = () => {
      const all = new Float32Array(parts.length * SIZE);
      for (const [i, part] of parts.entries()) part.getFloatTimeDomainData(all.subarray(i * SIZE, (i + 1) * SIZE));
      return { samples: all.slice(all.length - Math.round(HEARD * rate)), rate };
    };
    const late = performance.now() + PATIENCE;
    for (const begun = context.currentTime; context.currentTime < begun + HEARD; ) {
      if (stream.getTracks().some(({ readyState }) => readyState === 'ended')) throw new DOMException('unplugged', 'AbortError');
      if (context.currentTime === begun && performance.now() > late) throw soundless();
      await sleep(50);
    }
    return { sound, close };
  } catch (error) {
    close();
    throw sourceError(error, 'microphone');
  }
}
