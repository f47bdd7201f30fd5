// @ts-check
/** The audio context that all actions with sound share. */
import { soundless } from '../../base/media.js';
import { sleep } from '../../base/task.js';

/** Milliseconds to wait for the start of sound: headphones by radio take a second or two. */
const PATIENCE = 3000;

/** @type {AudioContext|undefined} */
let context;

/** @returns {Promise<AudioContext>} that runs; rejects with a sentence */
export async function audio() {
  context ??= new AudioContext();
  if (context.state !== 'running') await Promise.race([context.resume(), sleep(navigator.userActivation?.hasBeenActive ? PATIENCE : 500)]); // before the first press on the page, resume() waits
  if (context.state !== 'running') throw soundless();
  return context;
}
