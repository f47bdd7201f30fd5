#!/usr/bin/env node
// @ts-check
/**
 * A saved session as one HTML file that recognises by itself, as "Share" of the page makes it:
 *   node scripts/share.mjs --classifier SESSION --out ONE.html
 */
import { readFile, realpath, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { library } from '../web/build/written.mjs';
import { checkFiles, decodeManifest } from '../web/extractor/manifest.js';
import { megabytes, sizeOf } from '../web/share/assemble.js';
import { variantsOf } from '../web/extractor/networks.js';
import { broughtParts, largeness, OWN, ownParts, recordOf, sharedFile } from '../web/share/parts.js';
import { metadataOf, tensorOf } from '../web/base/safetensors.js';
import { actionsIn } from '../web/ui/then/actions.js';

const root = fileURLToPath(new URL('../', import.meta.url));
const usage = `Usage: node scripts/share.mjs --classifier SESSION --out ONE.html [--prior FILE] [--extractor MANIFEST] [--learn]

Writes one HTML file that recognises by itself, from disk and without a network. The
pictures in a session do not go along. 'make site' builds what the file is made of.

  --classifier FILE     a session saved by the page, the npm package or the Go library
  --out FILE            where to write
  --prior FILE          background knowledge that it was taught under (default: the site's, of the kind that it is of)
  --extractor MANIFEST  of the extractor that read the pictures, with its files beside it, if
                        it is not the page's own
  --learn               people may teach it more
  --site FOLDER         the built site (default: build/site)

Exit status: 0 done, 2 something to put right (said in one sentence).`;

async function main() {
  const { values } = parseArgs({
    options: {
      classifier: { type: 'string' }, out: { type: 'string' }, prior: { type: 'string' },
      extractor: { type: 'string' }, learn: { type: 'boolean', default: false }, site: { type: 'string', default: path.join(root, 'build/site') }, help: { type: 'boolean' },
    },
  });
  if (values.help) return console.log(usage);
  const { classifier: session, out, extractor: place, site } = values;
  if (!session || !out) throw new Error('Say what to share with --classifier FILE and where to write it with --out FILE.');
  const read = async (/** @type {string} */ name) => new Uint8Array(await readFile(path.join(site, name)).catch(() => { throw new Error(`There is no ${name} in ${site}: 'make site' builds it.`); }));
  const file = new Uint8Array(await given(session, 'classifier'));
  const inputs = await Promise.all([session, values.prior, place].map((name) => name && realpath(name).catch(() => '')));
  if (inputs.includes(await realpath(out).catch(() => out))) throw new Error(`${out} is read and would be written over: name another file with --out.`);
  const metadata = metadataOf(file);
  if (!metadata) throw new Error(`${session} is no saved session: save one in the page, or with metaqda teach.`);
  const { name = '', settings = '{}', extractor: reads = '{}', prior: sum } = metadata;
  const { sha256: by } = JSON.parse(reads);
  const kind = await kindOf(by, read);
  const parts = place ? await brought(place, read) : await ownParts(read, kind, by);
  const prior = values.prior ? await given(values.prior, 'prior') : sum ? await read(OWN[kind].prior) : undefined;
  const { id, sha256, dimension } = parts.extractor;
  const { createClassifier, init, openClassifier } = await library(site);
  await init({ wasm: await read('share/engine.wasm') });
  const made = { prior, extractor: { id, sha256, embed: () => [] } };
  const classifier = await openClassifier(file, made);
  const { counts, labels } = classifier;
  const classes = labels.filter((label) => counts[label] > 0);
  if (!classes.length) throw new Error(`${session} was taught nothing: there is nothing to share.`);
  if (classifier.dimension !== dimension) {
    throw new Error(`${session} was taught vectors of length ${classifier.dimension}, and the extractor “${id}” gives length ${dimension}: give the manifest of the one that they are of with --extractor.`);
  }
  const about = { name, learn: values.learn, sort: JSON.parse(settings).sort ?? 'probability', classes };
  const plain = await createClassifier({ ...made, ...classifier.settings, name });
  teach(plain, file, labels);
  const text = await sharedFile(parts, about, { classifier: plain.save(), ...prior && { prior } });
  await writeFile(out, text);
  const large = largeness(text, parts, 'the extractor');
  if (large) console.error(`${out} has ${megabytes(sizeOf(text))}${large}.`);
}

/** The kind of a session's examples, pictures if no other is known. @param {string|undefined} sha256 of its extractor @param {import('../web/share/parts.js').Read} read */
async function kindOf(sha256, read) {
  for (const [kind, { folder }] of Object.entries(OWN)) if (variantsOf(await recordOf(read, folder)).some((one) => one.sha256 === sha256)) return kind;
  return 'pictures';
}

/** @param {string} place @param {import('../web/share/parts.js').Read} read */
async function brought(place, read) {
  const manifest = decodeManifest((await given(place, 'extractor')).toString());
  const { sha256, contents } = await checkFiles(manifest, (name) => readFile(path.join(path.dirname(place), name)).then((bytes) => new Uint8Array(bytes), () => undefined));
  return broughtParts(read, manifest, sha256, async () => contents);
}

/** The content of the file of an option. @param {string} name @param {string} option */
const given = (name, option) => readFile(name).catch(({ code }) => { throw new Error(`${name} cannot be read (${code}): check the path after --${option}.`); });

/** Teaches a classifier the examples of a session, without its pictures. @param {import('../web/library/index.js').Classifier} classifier @param {Uint8Array} session @param {string[]} labels of its classes, in order */
function teach(classifier, session, labels) {
  const [classes, groups] = ['class', 'group'].map((name) => new Int32Array(tensorOf(session, name).buffer));
  const numbers = new Float32Array(tensorOf(session, 'embeddings').buffer);
  const [d, names, actions] = [numbers.length / classes.length, JSON.parse(metadataOf(session)?.groups ?? '[]'), actionsIn(session)];
  for (const label of labels) classifier.addClass(label);
  classes.forEach((k, i) => classifier.addExampleSync(numbers.subarray(i * d, (i + 1) * d), labels[k], { group: names[groups[i]] ?? '' }));
  [...actions.classes.values()].forEach((text, k) => text && classifier.setActions(labels[k], text));
  if (actions.none) classifier.setActions(null, actions.none);
}

await main().catch((error) => {
  console.error(error.message);
  process.exitCode = 2;
});
