// @ts-check
/**
 * What the sample pictures show: emoji that every chosen art style draws.
 * `shipped` come with the page for its sample button, the others are only
 * rendered for measurements (`node build/samples.mjs --all`).
 */

/** @typedef {{id: string, name: string}} Concept id: the icon's name in the icon sets */

/** @typedef {{id: string, name: string, author: string, licence: string, url: string}} Style id: that of the icon set */

/** @type {Style[]} */
export const styles = [
  { id: 'noto', name: 'Noto Emoji', author: 'Google', licence: 'Apache-2.0', url: 'https://github.com/googlefonts/noto-emoji' },
  { id: 'twemoji', name: 'Twemoji', author: 'Twitter and other contributors', licence: 'CC-BY-4.0', url: 'https://github.com/jdecked/twemoji' },
  { id: 'openmoji', name: 'OpenMoji', author: 'the OpenMoji project', licence: 'CC-BY-SA-4.0', url: 'https://openmoji.org' },
  { id: 'fluent-emoji-flat', name: 'Fluent Emoji Flat', author: 'Microsoft', licence: 'MIT', url: 'https://github.com/microsoft/fluentui-emoji' },
  {
    id: 'emojione',
    name: 'EmojiOne 2 (EmojiTwo)',
    author: 'EmojiOne and the EmojiTwo contributors',
    licence: 'CC-BY-4.0',
    url: 'https://github.com/EmojiTwo/emojitwo',
  },
  { id: 'fxemoji', name: 'Firefox OS Emoji', author: 'Mozilla', licence: 'Apache-2.0', url: 'https://github.com/mozilla/fxemoji' },
];

const shipped = ['banana', 'bicycle', 'cat', 'elephant', 'guitar', 'penguin', 'rocket', 'umbrella'];

const measured = [
  'airplane',
  'cactus',
  'hamburger',
  'honeybee',
  'octopus',
  'sunflower',
  'turtle',
  'watermelon',
  'ant',
  'automobile',
  'balloon',
  'battery',
  'bell',
  'bomb',
  'books',
  'bread',
  'bus',
  'camera',
  'candle',
  'cherries',
  'cookie',
  'cow',
  'crocodile',
  'crown',
  'dog',
  'dolphin',
  'doughnut',
  'dress',
  'envelope',
  'fire',
  'fish',
  'frog',
  'ghost',
  'glasses',
  'goat',
  'grapes',
  'hammer',
  'headphone',
  'helicopter',
  'jeans',
  'key',
  'koala',
  'lemon',
  'lipstick',
  'lollipop',
  'microphone',
  'microscope',
  'monkey',
  'motorcycle',
  'mouse',
  'mushroom',
  'peach',
  'pear',
  'pencil',
  'pig',
  'pineapple',
  'radio',
  'rainbow',
  'rooster',
  'rose',
  'sailboat',
  'saxophone',
  'seedling',
  'ship',
  'snail',
  'snake',
  'snowflake',
  'spider',
  'star',
  'strawberry',
  'syringe',
  'taxi',
  'telescope',
  'television',
  'tent',
  'tiger',
  'tomato',
  'tractor',
  'train',
  'trophy',
  'trumpet',
  'tulip',
  'violin',
  'volcano',
  'watch',
  'whale',
  'wrench',
];

/** @param {string} id @returns {Concept} */
const concept = (id) => ({ id, name: id[0].toUpperCase() + id.slice(1) });

export const shippedConcepts = shipped.map(concept);
export const allConcepts = [...shipped, ...measured].sort().map(concept);
