// @ts-check
/** Emoji in several art styles: some to teach with, another to recognise. */
import { complain, say } from './announce.js';
import { byId, el, sentence } from './dom.js';

/** @typedef {import('./types.js').Engine} Engine */
/** @typedef {import('./lessons.js').Lessons} Lessons */
/** @typedef {{id: string, name: string, author: string, licence: string, url: string}} Style */
/** @typedef {{styles: Style[], concepts: {id: string, name: string}[]}} Catalogue */

/** What the samples teach, and one thing they do not. */
const TAUGHT = ['cat', 'banana', 'rocket', 'umbrella', 'bicycle'];
const UNKNOWN = 'penguin';
const TEACH_STYLES = ['noto', 'twemoji', 'openmoji'];
const QUERY_STYLE = 'emojione';

/** The sample button and the strip of pictures to recognise. */
export class Samples {
  /**
   * @param {{engine: Engine, lessons: Lessons, recognise: (files: File[]) => Promise<void>}} parts
   */
  constructor({ engine, lessons, recognise }) {
    this.engine = engine;
    this.lessons = lessons;
    this.recognise = recognise;
    this.button = byId('samples-button', HTMLButtonElement);
    this.button.addEventListener('click', () => void this.#start());
  }

  async #start() {
    this.button.disabled = true;
    try {
      const catalogue = await fetchCatalogue();
      await this.#teach(catalogue);
      this.#offer(catalogue);
      say('The samples are in. Now press one of the pictures to recognise.');
    } catch (error) {
      complain(byId('add-class-error', HTMLElement), sentence(error));
    } finally {
      this.button.disabled = false;
    }
  }

  /** @param {Catalogue} catalogue */
  async #teach({ concepts }) {
    const { classes } = await this.engine.state();
    const missing = concepts.filter(({ id, name }) =>
      TAUGHT.includes(id) && !classes.some((known) => known.name === name && known.examples.length > 0));
    missing.sort((a, b) => TAUGHT.indexOf(a.id) - TAUGHT.indexOf(b.id));
    const total = missing.length * TEACH_STYLES.length;
    let done = 0;
    for (const { id, name } of missing) {
      const known = classes.find((one) => one.name === name);
      const classId = known?.id ?? (await this.engine.addClass(name)).id;
      for (const style of TEACH_STYLES) {
        say(`Adding sample ${++done} of ${total}.`);
        await this.lessons.addFile(classId, await fetchSample(style, id));
      }
    }
  }

  /** @param {Catalogue} catalogue */
  #offer({ styles, concepts }) {
    const shown = [...TAUGHT, UNKNOWN].flatMap((id) => concepts.filter((concept) => concept.id === id));
    byId('sample-list', HTMLElement).replaceChildren(...shown.map(({ id, name }) =>
      el('li', {}, el('button', {
        class: 'sample', type: 'button', 'aria-label': `Recognise the ${name.toLowerCase()}`,
        onclick: () => void fetchSample(QUERY_STYLE, id).then((file) => this.recognise([file]), () => {}),
      }, el('img', { src: address(QUERY_STYLE, id), alt: '', width: 48, height: 48 })))));
    byId('sample-credit', HTMLElement).textContent = credit(styles);
    byId('sample-queries', HTMLElement).hidden = false;
  }
}

/**
 * Who drew the pictures that are used, with their licences.
 *
 * @param {Style[]} styles
 */
export function credit(styles) {
  const used = [...TEACH_STYLES, QUERY_STYLE].flatMap((id) => styles.filter((style) => style.id === id));
  return `Pictures: ${used.map(({ name, author, licence }) => `${name} by ${author} (${licence})`).join(', ')}.`;
}

/** @param {string} style @param {string} concept */
function address(style, concept) {
  return `samples/${style}/${concept}.png`;
}

/** @returns {Promise<Catalogue>} */
async function fetchCatalogue() {
  return (await get('samples/samples.json')).json();
}

/** @param {string} style @param {string} concept */
async function fetchSample(style, concept) {
  const blob = await (await get(address(style, concept))).blob();
  return new File([blob], `${concept}, ${style}.png`, { type: 'image/png' });
}

/** @param {string} url */
async function get(url) {
  const response = await fetch(url).catch(() => null);
  if (!response?.ok) throw new Error('The samples could not be fetched: check the connection and try again.');
  return response;
}
