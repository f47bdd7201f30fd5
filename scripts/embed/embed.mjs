#!/usr/bin/env node
// @ts-check
/**
 * A folder of pictures or sounds, one subfolder per class or unlabelled, to embeddings:
 *   node scripts/embed/embed.mjs FOLDER --out NAME.npz [--unlabelled]
 */
import { realpath, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { builtKinds } from './extractor.mjs';
import { listPictures, listUnlabelled, readSplits } from './folder.mjs';
import { encodeNPZ } from './npz.mjs';
import { Pool } from './pool.mjs';
import { manifestFor } from './propose.mjs';
import { Complaint } from './complaint.mjs';

const usage = `Usage: node scripts/embed/embed.mjs FOLDER --out NAME.npz [--kind KIND] [--splits FILE | --split NAME | --unlabelled] [--extractor PLACE] [--workers N] [--quiet]

Turns pictures or sounds into embeddings with the page's own feature extractor, or with another
whose manifest is given (web/extractor/README.md). An extractor that takes files
instead of pictures accepts files of any kind.
FOLDER holds one subfolder per class, each with that class's pictures
(JPEG, PNG, WebP, GIF, AVIF, TIFF), or its sounds (OGG Vorbis, MP3, WAV) with --kind sounds.
With --kind hands pictures in which no hand is seen are left out, and counted;
hands/handedness tells left hands from right ones. Names that begin with a dot are left out.
Where a class folder has subfolders, the pictures of each of them are one group:
frames of one burst, or views of one thing.

Writes NAME.npz with embeddings (float32, N x d) and labels (int32, N), with
groups (int32, N) where some class has subfolders, and NAME.json beside it with the class names that labels count, the splits, and the
extractor's id and sha256. Classes and pictures are taken in the order of their names.
With --unlabelled FOLDER holds pictures alone, NAME.npz has embeddings without labels,
and NAME.json names the "files" of its rows: for metaqda classify.

  --out NAME.npz     where to write; both files appear whole or not at all
  --kind KIND        pictures, sounds, hands or hands/handedness: by which of the page's own extractors
                     (default pictures)
  --splits FILE      JSON {"train": [CLASS, ...], "val": [...], "test": [...]} that
                     names every class once
  --split NAME       without --splits: train, val or test, the split that every
                     class is in (default test)
  --unlabelled       the pictures lie in FOLDER itself and are of no known class
  --extractor PLACE  a manifest with its files beside it; an .onnx file or model.json
                     without one, for which one is proposed, tried on some of the
                     pictures and written beside it as NAME.manifest.json; or the folder
                     of a built extractor (default: that of the kind in build/site, from 'make build')
  --workers N        threads that embed (default 2); the result does not depend on it
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
        out: { type: 'string' }, splits: { type: 'string' }, split: { type: 'string' }, unlabelled: { type: 'boolean', default: false }, extractor: { type: 'string' }, kind: { type: 'string', default: 'pictures' },
        workers: { type: 'string', default: '2' },
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
  const workers = Number(values.workers);
  if (!(Number.isInteger(workers) && workers > 0 && workers <= 256)) throw new Complaint(`--workers is ${values.workers}, not a number of threads from 1 to 256; see --help.`);
  if (values.unlabelled && (values.splits ?? values.split) !== undefined) throw new Complaint('Pictures that are --unlabelled have no splits; leave out --splits and --split.');
  const facts = values.out.replace(/\.npz$/, '.json');
  const [written, ...read] = await Promise.all([facts, values.splits, values.extractor].map((name) => name && realpath(name).catch(() => '')));
  if (written && read.includes(written)) throw new Complaint(`'${facts}' is read and would be written over; choose another --out.`);
  const listed = values.unlabelled ? await listUnlabelled(positionals[0]) : await labelled(positionals[0], values);
  const { pictures } = listed;
  const [kind, variant] = values.kind.split('/');
  const built = builtKinds[kind];
  if (!built || variant && `${kind}/${variant}` !== 'hands/handedness') throw new Complaint(`There is no kind '${values.kind}'; choose ${Object.keys(builtKinds).join(', ')} or hands/handedness.`);
  const given = values.extractor ?? built;
  const place = await manifestFor(given, pictures);
  const pool = await Pool.start(place, Math.min(workers, pictures.length), variant).catch((error) => {
    if (place.endsWith('.json')) throw new Complaint(`The feature extractor of '${given}' cannot be loaded. ${error.message}`);
    throw new Complaint(`The feature extractor in '${given}' cannot be loaded (${error.message}); run 'make build' first.`);
  });
  const { extractor } = pool;
  const found = await pool.embedAll(pictures.map(({ file }) => file), (done) => {
    if (!values.quiet && done % 100 === 0) console.error(`${done} of ${pictures.length} ${kind}`);
  }, kind).finally(() => pool.close());
  const kept = found.flatMap((embedding, i) => (embedding ? [i] : []));
  if (!kept.length) throw new Complaint(`No ${kind} are seen in any picture of '${positionals[0]}'; check that they are shown large.`);
  if (kept.length < found.length) console.error(`No ${kind} are seen in ${found.length - kept.length} of ${found.length} pictures, which are left out, the first of them ${pictures[found.indexOf(null)].file}`);
  const about = {
    name: path.basename(values.out, '.npz'), dimension: extractor.dimension, ...listed.facts,
    extractor: extractor.id, extractor_sha256: extractor.sha256,
  };
  if (listed.facts.files) about.files = kept.map((i) => /** @type {string[]} */ (listed.facts.files)[i]);
  const embeddings = new Float32Array(kept.length * extractor.dimension);
  kept.forEach((i, row) => embeddings.set(/** @type {Float32Array} */ (found[i]), row * extractor.dimension));
  const arrays = {
    embeddings: { shape: [kept.length, extractor.dimension], data: embeddings },
    ...Object.fromEntries(Object.entries(listed.arrays).map(([name, { data }]) => [name, { shape: [kept.length], data: Int32Array.from(kept, (i) => data[i]) }])),
  };
  await writeWhole([
    [values.out, encodeNPZ(arrays)],
    [facts, JSON.stringify(about, null, 1) + '\n'],
  ]);
  if (!values.quiet) console.error(`${values.out}: ${kind} ${kept.length}${listed.facts.classes ? `, classes ${listed.facts.classes.length}` : ''}`);
}

/**
 * The pictures of a folder of classes, and the facts about them.
 * @param {string} folder @param {{splits?: string, split?: string}} values
 * @returns {Promise<import('./folder.mjs').Listed>}
 */
async function labelled(folder, values) {
  const { classes, pictures, grouped } = await listPictures(folder);
  const splits = await readSplits(values.splits, values.split ?? 'test', classes);
  const labels = { shape: [pictures.length], data: Int32Array.from(pictures, ({ label }) => label) };
  const groups = { shape: [pictures.length], data: Int32Array.from(pictures, ({ group }) => group) };
  return { pictures, facts: { classes, splits }, arrays: grouped ? { labels, groups } : { labels } };
}

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
