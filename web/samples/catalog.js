// @ts-check
/**
 * The page's sample pictures: what there is, where it lies, and a ready-made
 * lesson that teaches with some art styles and asks with another.
 */

/**
 * @typedef {object} Catalog contents of samples.json
 * @property {import('./concepts.js').Style[]} styles
 * @property {import('./concepts.js').Concept[]} concepts
 * @property {string} folder absolute URL, ends with a slash
 */

/**
 * @typedef {object} Lesson
 * @property {{name: string, pictures: string[]}[]} classes URLs to teach with, one per style
 * @property {{name: string, picture: string}[]} questions one per class, in a style that was not taught
 * @property {{name: string, picture: string}} stranger something of none of the classes
 */

/**
 * @param {URL | string} [base] folder of the samples; `samples/` beside the page if left out
 * @returns {Promise<Catalog>}
 */
export async function loadCatalog(base) {
  const folder = new URL(base ?? 'samples/', document.baseURI);
  const response = await fetch(new URL('samples.json', folder)).catch(() => null);
  if (!response?.ok) throw new Error('The sample pictures could not be fetched; check the connection and try again.');
  return { ...await response.json(), folder: folder.href };
}

/**
 * @param {Catalog} catalog @param {string} style @param {string} concept
 * @returns {string} URL of a PNG
 */
export function pictureURL(catalog, style, concept) {
  return new URL(`${style}/${concept}.png`, catalog.folder).href;
}

/**
 * Draws a lesson. Classes, styles and their order depend on `random` alone.
 * @param {Catalog} catalog
 * @param {{ways?: number, shots?: number, random?: () => number}} [options]
 *   ways classes, shots pictures each (in different styles), random in [0, 1)
 * @returns {Lesson}
 */
export function drawLesson(catalog, { ways = 5, shots = 3, random = Math.random } = {}) {
  if (ways + 1 > catalog.concepts.length || shots + 1 > catalog.styles.length) {
    throw new RangeError(`There are samples for ${catalog.concepts.length - 1} classes of ${catalog.styles.length - 1} pictures; `
      + `asked for ${ways} of ${shots}.`);
  }
  const concepts = shuffled(catalog.concepts, random).slice(0, ways + 1);
  const styles = shuffled(catalog.styles, random).slice(0, shots + 1);
  const [asked, ...taught] = styles.map(({ id }) => id);
  const [stranger, ...known] = concepts;
  const question = (/** @type {import('./concepts.js').Concept} */ { id, name }) => ({ name, picture: pictureURL(catalog, asked, id) });
  return {
    classes: known.map(({ id, name }) => ({ name, pictures: taught.map((style) => pictureURL(catalog, style, id)) })),
    questions: known.map(question),
    stranger: question(stranger),
  };
}

/**
 * Fisher-Yates on a copy.
 * @template T
 * @param {T[]} items @param {() => number} random
 * @returns {T[]}
 */
function shuffled(items, random) {
  const copy = [...items];
  for (let i = copy.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [copy[i], copy[j]] = [copy[j], copy[i]];
  }
  return copy;
}
