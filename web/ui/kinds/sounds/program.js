// @ts-check
/** Where the program of the audio thread is. In a shared file the build replaces this module by one that contains the program. */
export const program = () => new URL('./worklet.js', import.meta.url).href;
