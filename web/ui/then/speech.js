// @ts-check
/** Says a sentence, by a voice of the device: some voices of browsers send the text to a server. */

/** Milliseconds in which a browser lists its voices. */
const PATIENCE = 3000;

/** The voices that need no network. Some browsers list them late. @returns {Promise<SpeechSynthesisVoice[]>} */
async function voices() {
  const own = () => speechSynthesis.getVoices().filter((voice) => voice.localService);
  if (!own().length) {
    await new Promise((resolve) => {
      speechSynthesis.addEventListener('voiceschanged', resolve, { once: true });
      setTimeout(resolve, PATIENCE);
    });
  }
  return own();
}

/** @param {SpeechSynthesisVoice[]} all the language of the browser first, then its default */
const preferred = (all) =>
  all.find(({ lang }) => lang === navigator.language) ??
  all.find(({ lang }) => lang.slice(0, 2) === navigator.language.slice(0, 2)) ??
  all.find((voice) => voice.default) ??
  all[0];

/** @type {import('./index.js').Device} */
export const speech = {
  id: 'speech',
  does: 'say a sentence',
  fields: [{ name: 'text', label: 'Sentence', kind: 'text', first: '', most: 300 }],
  words: ({ text }) => `say “${text}”`,
  lacks: () => ('speechSynthesis' in globalThis ? '' : 'This browser cannot speak: open this page in Chrome, Edge, Firefox or Safari.'),
  run: async ({ text }) => {
    const voice = preferred(await voices());
    if (!voice)
      throw new Error(
        'This device has no voice of its own: add one in its settings for speech. Voices from the network are not used, as they would send the sentence to a server.',
      );
    const utterance = Object.assign(new SpeechSynthesisUtterance(text), { voice, lang: voice.lang });
    speechSynthesis.cancel(); // an older sentence is about what was before
    await new Promise((resolve, reject) => {
      utterance.onstart = utterance.onend = resolve;
      utterance.onerror = ({ error }) =>
        error === 'canceled' || error === 'interrupted'
          ? resolve(undefined)
          : reject(
              new Error(
                error === 'not-allowed'
                  ? 'The browser does not speak yet: press anything on this page first.'
                  : 'The sentence could not be spoken: try another one, or reload the page.',
              ),
            );
      speechSynthesis.speak(utterance);
    });
  },
};
