// @ts-check
/** The audio context that all actions with sound share. */

/** @type {AudioContext|undefined} */
let context;

/** @returns {Promise<AudioContext>} that runs; rejects with a sentence */
export async function audio() {
  context ??= new AudioContext();
  if (context.state !== 'running')
    await Promise.race([
      context.resume(),
      new Promise((resolve) => {
        setTimeout(resolve, 500);
      }),
    ]); // before the first press on the page, resume() waits
  if (context.state !== 'running') throw new Error('The browser plays no sound yet: press anything on this page first.');
  return context;
}
