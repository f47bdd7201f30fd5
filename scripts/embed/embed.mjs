#!/usr/bin/env node
// @ts-check
/**
 * A folder of pictures, one subfolder per class, to embeddings:
 *   node scripts/embed/embed.mjs FOLDER --out NAME.npz
 */
import { rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { decodePicture } from './decode.mjs';
import { builtExtractor, loadExtractor } from './extractor.mjs';
import { listPictures, readSplits } from './folder.mjs';
import { encodeNPZ } from './npz.mjs';
import { Complaint } from './complaint.mjs';

const usage = `Usage: node scripts/embed/embed.mjs FOLDER --out NAME.npz [--splits FILE] [--extractor FOLDER] [--quiet]

Turns pictures into embeddings with the page's own feature extractor.
FOLDER holds one subfolder per class, each with that class's pictures
(JPEG, PNG, WebP, GIF, AVIF, TIFF). Names that begin with a dot are left out.
Where a class folder has subfolders, the pictures of each of them are one group:
frames of one burst, or views of one thing.

Writes NAME.npz with embeddings (float32, N x d) and labels (int32, N), with
groups (int32, N) where some class has subfolders, and NAME.json beside it with the class names that labels count, the splits, and the
extractor's id and sha256. Classes and pictures are taken in the order of their names.

  --out NAME.npz     where to write; both files appear whole or not at all
  --splits FILE      JSON {"train": [CLASS, ...], "val": [...], "test": [...]} that
                     names every class once; without it every class is a test class
  --extractor FOLDER built extractor (default: build/site/extractor, from 'make build')
  --quiet            no progress on standard error
  --help             this text

Exit status: 0 done, 2 something to put right (said in one sentence).`;

/** @param {string[]} args */
function parse(args) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        out: { type: 'string' }, splits: { type: 'string' }, extractor: { type: 'string', default: builtExtractor },
        quiet: { type: 'boolean', default: false }, help: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    throw new Complaint(`${/** @type {Error} */ (error).message.split('\n')[0].replace(/\.?$/, '')}; see --help.`);
  }
}

/** @param {string[]} args @returns {Promise<void>} */
async function main(args) {
  const { values, positionals } = parse(args);
  if (values.help) return console.log(usage);
  if (positionals.length !== 1) throw new Complaint(`Name one folder of pictures, not ${positionals.length}; see --help.`);
  if (!values.out?.endsWith('.npz')) throw new Complaint('Say where to write with --out NAME.npz; see --help.');
  const { classes, pictures, grouped } = await listPictures(positionals[0]);
  const splits = await readSplits(values.splits, classes);
  const extractor = await loadExtractor(values.extractor).catch((error) => {
    throw new Complaint(`The feature extractor in '${values.extractor}' cannot be loaded (${error.message}); run 'make build' first.`);
  });
  const embeddings = await embedAll(extractor, pictures, values.quiet);
  const facts = {
    name: path.basename(values.out, '.npz'), dimension: extractor.dimension, classes, splits,
    extractor: extractor.id, extractor_sha256: extractor.sha256,
  };
  const arrays = {
    embeddings: { shape: [pictures.length, extractor.dimension], data: embeddings },
    labels: { shape: [pictures.length], data: Int32Array.from(pictures, ({ label }) => label) },
    ...(grouped && { groups: { shape: [pictures.length], data: Int32Array.from(pictures, ({ group }) => group) } }),
  };
  await writeWhole([
    [values.out, encodeNPZ(arrays)],
    [values.out.replace(/\.npz$/, '.json'), JSON.stringify(facts, null, 1) + '\n'],
  ]);
  if (!values.quiet) console.error(`${pictures.length} pictures of ${classes.length} classes in ${values.out}`);
}

/**
 * @param {Awaited<ReturnType<typeof loadExtractor>>} extractor
 * @param {import('./folder.mjs').Picture[]} pictures @param {boolean} quiet
 */
async function embedAll(extractor, pictures, quiet) {
  const all = new Float32Array(pictures.length * extractor.dimension);
  for (const [i, { file }] of pictures.entries()) {
    const pixels = await decodePicture(file).catch((error) => {
      throw new Complaint(`'${file}' is not a picture that can be read (${firstLine(error)}); repair it or take it out of the folder.`);
    });
    all.set(extractor.embed(pixels), i * extractor.dimension);
    if (!quiet && ((i + 1) % 100 === 0)) console.error(`${i + 1} of ${pictures.length} pictures`);
  }
  return all;
}

/** @param {Error} error */
const firstLine = (error) => error.message.split('\n')[0].trim();

/**
 * Writes every file beside its place and moves them there only when all are complete.
 * @param {[string, string | Uint8Array][]} files
 */
async function writeWhole(files) {
  const temporary = files.map(([file]) => `${file}.${process.pid}.tmp`);
  try {
    for (const [i, [, contents]] of files.entries()) await writeFile(temporary[i], contents);
    for (const [i, [file]] of files.entries()) await rename(temporary[i], file);
  } catch (error) {
    throw new Complaint(`The embeddings cannot be written (${/** @type {Error} */ (error).message}); choose another --out.`);
  } finally {
    await Promise.all(temporary.map((file) => rm(file, { force: true })));
  }
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof Complaint)) throw error;
  console.error(error.message);
  process.exitCode = 2;
}
