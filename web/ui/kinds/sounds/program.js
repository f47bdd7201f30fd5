// @ts-check
/** Where the program of the audio thread is; in a shared file the build puts one that holds it in the place of this module. */
export const program = () => new URL('./worklet.js', import.meta.url).href;
