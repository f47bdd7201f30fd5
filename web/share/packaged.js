// @ts-check
/**
 * Folders that run by themselves: a program of a few lines, the session, and the parts of the npm package that it needs.
 *
 * The files have the same paths as in the package, so the package's README is true for them. All of them come from the
 * site: the engine from share/, the network from extractor/ and kinds/, modules of the package from use/.
 */
import { escaped } from './assemble.js';
import { OWN } from './parts.js';

/** @typedef {import('./parts.js').Read} Read */
/** @typedef {'pictures'|'hands'|'sounds'} Kind of sessions whose extractor the folders carry */
/** @typedef {Record<string, () => Promise<Uint8Array>>} Files by their paths in the folder */

/** The folder where the package finds the network of pictures. */
const NETWORK = 'efficientnet-lite0';

/** The package's entry for each kind, and the call that loads its extractor. @type {Record<Kind, {entry: string, load: (variant: string) => string}>} */
export const ENTRIES = {
  pictures: { entry: NETWORK, load: () => 'loadExtractor()' },
  sounds: { entry: 'sounds', load: () => 'loadExtractor()' },
  hands: { entry: 'hands', load: (variant) => (variant ? 'loadExtractor({ handedness: true })' : 'loadExtractor()') },
};

const text = (/** @type {string} */ content) => new TextEncoder().encode(content);
const json = async (/** @type {Read} */ read, /** @type {string} */ name) => JSON.parse(new TextDecoder().decode(await read(name)));

/** Whether the site was built with the network that the package has. @param {Read} read */
export const hasNetwork = async (read) => (await json(read, 'use/use.json')).network;

/**
 * The part of the package that a program needs, below metaqda/.
 *
 * @param {Read} read @param {Kind} [kind] of the extractor, none for vectors alone
 * @returns {Promise<Files>}
 */
export async function packageFiles(read, kind) {
  const { version, modules } = await json(read, 'use/use.json');
  const wanted = ['index', ...(kind ? [ENTRIES[kind].entry] : [])];
  const names = new Set(wanted.flatMap((entry) => modules[entry]));
  /** @type {Files} */
  const files = {
    'metaqda/package.json': async () =>
      text(`${JSON.stringify({ name: 'metaqda', version, type: 'module', main: 'index.js', license: 'Apache-2.0' }, null, 2)}\n`),
    'metaqda/metaqda.wasm': () => read('share/engine.wasm'),
    'metaqda/NOTICES.txt': () => read(`${OWN[kind ?? 'pictures'].page}.txt`),
  };
  for (const name of names) files[`metaqda/${name}`] = () => read(`use/metaqda/${name}`);
  if (!kind) return files;
  const { program, ...pictures } = await json(read, 'extractor/extractor.json');
  const own = kind === 'pictures' ? pictures.files.map((/** @type {{name: string}} */ { name }) => name) : [];
  for (const name of [...own, 'runtime.js', ...(kind === 'pictures' ? ['worker.js'] : []), program.name])
    files[`metaqda/${NETWORK}/${name}`] = () => read(`extractor/${name}`);
  if (kind === 'pictures') return files;
  const { networks } = await json(read, `kinds/${kind}/extractor.json`);
  const parts = Object.entries(networks).flatMap(([network, part]) => part.files.map((/** @type {{name: string}} */ { name }) => `${network}/${name}`));
  for (const name of [...parts, 'start.js', 'worker.js']) files[`metaqda/kinds/${kind}/${name}`] = () => read(`kinds/${kind}/${name}`);
  files[`metaqda/kinds/${kind}/runtime.js`] = async () => text(`export * from "../../${NETWORK}/runtime.js";\n`);
  return files;
}

/**
 * A file of use/ with its placeholders replaced. In HTML the values are escaped.
 *
 * @param {Read} read @param {string} name @param {Record<string, string>} words values by placeholder, which is in capitals
 */
export async function filled(read, name, words) {
  const kept = /\.html$/.test(name) ? escaped : (/** @type {string} */ word) => word;
  const places = new RegExp(`\\b(${Object.keys(words).join('|')})\\b`, 'g');
  return text(new TextDecoder().decode(await read(`use/${name}`)).replaceAll(places, (place) => kept(words[place])));
}
