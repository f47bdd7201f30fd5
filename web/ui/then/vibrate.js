// @ts-check
/** Vibrates a phone. */

/** @type {import('./index.js').Device} */
export const vibrate = {
  id: 'vibrate',
  does: 'vibrate',
  fields: [{ name: 'length', label: 'Milliseconds', kind: 'number', first: 300, least: 50, most: 2000 }],
  words: ({ length }) => `vibrate for ${length} ms`,
  lacks: () => ('vibrate' in navigator ? '' : 'This browser cannot vibrate: open this page in Chrome on an Android phone.'),
  run: async ({ length }) => {
    if (!navigator.vibrate(length))
      throw new Error('The browser does not vibrate: press anything on this page first, and check that the phone is not set to silent.');
  },
};
