// @ts-check
/** The choices of "Use it": each makes one file of the open session, which runs elsewhere. */
import { packed, plainName, quoted } from './assemble.js';
import { onnxOf } from './onnx.js';
import { ENTRIES, filled, hasNetwork, packageFiles } from './packaged.js';
import { OWN, ownParts, recordOf } from './parts.js';
import { shapesOf, tensorOf } from '../base/safetensors.js';

/** @import {Files, Kind} from './packaged.js' */
/** @import {Read} from './parts.js' */
/**
 * @typedef {object} Taught what was taught
 * @property {string} name of the session
 * @property {string} kind of it
 * @property {string} variant of the extractor, '' for none
 * @property {boolean} own whether the extractor is the page's
 * @property {string[]} labels of classes with examples
 * @property {string} sha256 of the extractor
 * @property {() => Promise<Uint8Array>} session its file, without pictures
 * @property {() => Promise<Uint8Array>} prior that it uses
 * @property {() => Promise<Uint8Array>} numbers its present numbers, for other programs
 *
 * @typedef {object} Choice
 * @property {string} id
 * @property {string} name
 * @property {string} what the result, in a sentence
 * @property {string[]} how to run it, in three sentences
 * @property {{what: string, how: string[]}} [numbers] the same two if only numbers are read: in sessions of sounds, hands or an extractor of the user
 * @property {(taught: Taught) => string} [missing] why it is not possible yet for such a session, '' if it
 * is
 * @property {(read: Read, taught: Taught, how: string[]) => Promise<Made>} [make] none for the share dialog, which makes a page by itself
 *
 * @typedef {{file: string, folder: Files}|{file: string, bytes: Uint8Array}} Made its name, and what is in the zip's folder or in the file
 */

/** Folders carry the page's own networks so far. @param {Taught} taught */
function needsNetwork({ own }) {
  if (!own) return 'This session uses your own extractor, which these folders cannot contain yet: choose “A page”.';
  return '';
}

/** Whether the file of a session has a network that reads pictures. @param {Pick<Taught, 'own' | 'kind'>} session */
const readsPictures = ({ own, kind }) => own && kind === 'pictures';

/**
 * The result of a choice for a session, and how to run it.
 *
 * @param {Choice} choice @param {Pick<Taught, 'own' | 'kind'>} of @returns {{what: string, how: string[]}}
 */
export const aboutOf = (choice, of) => (readsPictures(of) ? choice : (choice.numbers ?? choice));

/** @type {Choice[]} */
export const choices = [
  {
    id: 'page',
    name: 'A page',
    what: 'One HTML file that recognises by itself, for others or for another device.',
    how: [],
  },
  {
    id: 'web',
    name: 'My own web page',
    what: 'A web page of some sixty lines for you to change, with everything that it needs.',
    how: [
      'Unpack the zip.',
      'Put its folder on any web server, or serve it yourself: run “python3 -m http.server” or “npx serve” in that folder.',
      'Open the address that it names, choose a file or press the button beside it, and change index.html as you like.',
    ],
    missing: needsNetwork,
    make: async (read, taught, how) => folder(taught, '', await program(read, taught, how, 'page', ['index.html'])),
  },
  {
    id: 'p5',
    name: 'A p5.js sketch',
    what: 'A sketch that reacts to what the camera sees or the microphone hears. p5.js is included.',
    how: [
      'Unpack the zip, and serve its folder: run “python3 -m http.server” or “npx serve” in that folder.',
      'Open the address that it names, and allow the camera or the microphone.',
      'In sketch.js, write in gotEvent() what should happen when something comes or goes.',
    ],
    missing: needsNetwork,
    make: async (read, taught, how) =>
      folder(taught, '-sketch', {
        ...(await program(read, taught, how, 'p5', ['index.html', 'sketch.js'])),
        ...Object.fromEntries(['p5.min.js', 'p5-license.txt'].map((name) => [name, () => read(`use/p5/${name}`)])),
      }),
  },
  {
    id: 'scratch',
    name: 'Scratch',
    what: 'One extension file for TurboWarp, which runs Scratch projects. It has blocks that say what the camera sees or the microphone hears.',
    how: [
      'In TurboWarp (turbowarp.org/editor, or its desktop program) press Add Extension, then Custom Extension, and open the file.',
      'Tick “Run extension without sandbox”, which the camera and the microphone need.',
      'Use its blocks: the one that turns it on first, then “what do you see” or “hear”, “how sure”, “when you” and “teach this as”.',
    ],
    missing: needsNetwork,
    make: async (read, taught) => ({ file: `${plainName(taught.name)}-scratch.js`, bytes: await scratchExtension(read, taught) }),
  },
  {
    id: 'node',
    name: 'Node.js',
    what: 'A program of a dozen lines that says what is in a picture file, or answers from the numbers of the feature extractor. It can be taught more.',
    how: [
      'Unpack the zip. You need Node.js 20 or newer; there is nothing to install.',
      'In its folder run “node recognise.js picture.jpg” with a JPEG or PNG picture of yours.',
      'If you have the numbers of the feature extractor, run “node numbers.js example.json”.',
    ],
    numbers: {
      what: 'A program of a dozen lines that answers from the numbers of the feature extractor. It can be taught more.',
      how: [
        'Unpack the zip. You need Node.js 20 or newer; there is nothing to install.',
        'In its folder run “node numbers.js example.json”: it reads the numbers of the feature extractor.',
        'To recognise something else, put its numbers of the same feature extractor into example.json.',
      ],
    },
    make: async (read, taught, how) =>
      folder(
        taught,
        '-node',
        !readsPictures(taught) || !(await hasNetwork(read))
          ? { ...programs(read, taught, how, 'node', ['numbers.js', 'package.json']), ...inputs(taught), ...(await packageFiles(read)) }
          : {
              ...programs(read, taught, how, 'node', ['recognise.js', 'numbers.js', 'package.json']),
              ...inputs(taught),
              ...(await packageFiles(read, 'pictures')),
              'pictures.js': () => read('use/node/pictures.js'),
              'metaqda/efficientnet-lite0/extractor.json': () => read('extractor/extractor.json'),
            },
      ),
  },
  {
    id: 'python',
    name: 'Python',
    what: 'A program of ten lines that answers from the numbers of the feature extractor. It needs only numpy.',
    how: [
      'Unpack the zip, and install numpy: “pip install numpy”.',
      'In its folder run “python3 recognise.py example.json”.',
      'To recognise something else, put its numbers of the same feature extractor into example.json.',
    ],
    make: async (read, taught, how) =>
      folder(taught, '-python', {
        ...programs(read, taught, how, 'python', ['recognise.py']),
        ...inputs(taught),
        'classifier.safetensors': taught.numbers,
        'metaqda.py': () => read('use/python/metaqda.py'),
        'LICENSE.txt': () => read('LICENSE.txt'),
      }),
  },
  {
    id: 'onnx',
    name: 'A network for elsewhere',
    what: 'ONNX files that many programs read: from a picture to probabilities, and from the numbers of the feature extractor.',
    how: [
      'Unpack the zip, and load picture.onnx with ONNX Runtime, in any language that it supports.',
      'The input “picture” takes the bytes of an upright picture of any size, over white: height × width × 3 (RGB).',
      'The output “probabilities” has a column for each class; “none” is the probability of none of these, and README.txt has a few lines of Python.',
    ],
    numbers: {
      what: 'An ONNX file that many programs read: from the numbers of the feature extractor to probabilities.',
      how: [
        'Unpack the zip, and load embedding.onnx with ONNX Runtime, in any language that it supports.',
        'The input “embedding” takes the numbers of the feature extractor: a row for each example.',
        'The output “probabilities” has a column for each class; “none” is the probability of none of these, and README.txt has five lines of Python.',
      ],
    },
    make: async (read, taught, how) => {
      const numbers = await taught.numbers();
      return folder(taught, '-onnx', {
        'README.txt': () => filled(read, `onnx/${readsPictures(taught) ? 'README.txt' : 'README.numbers.txt'}`, wordsOf(taught, how)),
        'embedding.onnx': async () => onnxOf(numbers).bytes,
        'NOTICES.txt': () => read(`${OWN[taught.kind].page}.txt`),
        ...(readsPictures(taught) && { 'picture.onnx': async () => onnxOf(numbers, await networkOf(read)).bytes }),
      });
    },
  },
];

/**
 * The programs of a choice that reads what the page reads, with the package and the session.
 *
 * @param {Read} read @param {Taught} taught @param {string[]} how to run it @param {string} from the folder of use/ @param {string[]} names of its programs
 * @returns {Promise<Files>}
 */
async function program(read, taught, how, from, names) {
  if (!(await hasNetwork(read)))
    throw new Error('This site was built with another network than the npm package has, so these folders cannot be made: choose “A page”.');
  return { ...programs(read, taught, how, from, names), ...session(taught), ...(await packageFiles(read, /** @type {Kind} */ (taught.kind))) };
}

/** The programs that replace those for a camera. @type {Record<string, string>} */
const SOUNDS = { 'page/index.html': 'index.sounds.html', 'p5/sketch.js': 'sketch.sounds.js' };

/** @param {Read} read @param {Taught} taught @param {string[]} how @param {string} from @param {string[]} names @returns {Files} */
function programs(read, taught, how, from, names) {
  const { kind } = taught;
  const words = wordsOf(taught, how);
  return Object.fromEntries(
    [...names, 'README.txt'].map((file) => [file, () => filled(read, `${from}/${(kind === 'sounds' && SOUNDS[`${from}/${file}`]) || file}`, words)]),
  );
}

/** The values of the placeholders in texts. @param {Taught} taught @param {string[]} how */
function wordsOf({ name, kind, variant }, how) {
  const { entry, load } = ENTRIES[/** @type {Kind} */ (kind)] ?? ENTRIES.pictures;
  return { TITLE: name, ENTRY: entry, LOAD: load(variant), HOW: how.map((sentence, i) => `${i + 1}. ${sentence}`).join('\n') };
}

/** @param {Taught} taught @returns {Files} */
const session = (taught) => ({ 'session.safetensors': taught.session, 'prior.safetensors': taught.prior });

/**
 * An extension with all that it needs inside, as a shared page has it.
 *
 * @param {Read} read @param {Taught} taught
 */
async function scratchExtension(read, { name, kind, sha256, labels, session: taught, prior }) {
  const {
    extractor,
    blocks: { notices: _, ...blocks },
  } = await ownParts(read, kind, sha256);
  for (const [block, content] of Object.entries({ classifier: await taught(), prior: await prior() })) blocks[block] = await packed(content);
  const literals = Object.entries(blocks).map(([block, content]) => `'${block}':${quoted(content)}`);
  const text = await filled(read, `scratch/${kind}.js`, {
    METAQDA_BLOCKS: `{${literals.join(',')}}`,
    METAQDA_ABOUT: JSON.stringify({ name, classes: labels, extractor }),
  });
  const notices = new TextDecoder().decode(await read(`${OWN[kind].page}.txt`)).replaceAll('*/', '* /');
  return new Uint8Array(await new Blob([/** @type {BlobPart} */ (text), `\n/*\n${notices}\n*/\n`]).arrayBuffer());
}

/** The page's network of pictures. @param {Read} read @returns {Promise<import('./onnx-pictures.js').Network>} */
async function networkOf(read) {
  const recipe = await recordOf(read, OWN.pictures.folder);
  const [model, weights, ...more] = recipe.files.map((/** @type {{name: string}} */ { name }) => `${OWN.pictures.folder}/${name}`);
  if (more.length) throw new Error('The network of this site has more files than can be written as ONNX: choose “A page”.');
  return { recipe, model: JSON.parse(new TextDecoder().decode(await read(model))), weights: await read(weights) };
}

/** The session with the numbers of its first example. @param {Taught} taught @returns {Files} */
const inputs = (taught) => ({
  ...session(taught),
  'example.json': async () => {
    const file = await taught.session();
    const numbers = new Float32Array(tensorOf(file, 'embeddings').buffer, 0, shapesOf(file).embeddings[1]);
    return new TextEncoder().encode(`${JSON.stringify([...numbers])}\n`);
  },
});

/** @param {Taught} taught @param {string} suffix of the name @param {Files} files @returns {Made} */
function folder({ name }, suffix, files) {
  const top = `${plainName(name)}${suffix}`;
  return { file: `${top}.zip`, folder: Object.fromEntries(Object.entries(files).map(([path, content]) => [`${top}/${path}`, content])) };
}
