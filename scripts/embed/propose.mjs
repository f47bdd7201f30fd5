// @ts-check
/** A manifest for a network that has none: proposed from its graph and the pictures, and written beside it. */
import { readFile, readdir, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { described, judged, networkAmong, proposalOf, spread } from '../../web/extractor/own/propose.js';
import { Complaint } from './complaint.mjs';
import { decodePicture } from './decode.mjs';
import { loadExtractor, networkOf } from './extractor.mjs';

/**
 * @param {string} place of a network, a manifest or a folder
 * @param {{file: string, label?: number}[]} listed pictures, tried where they have labels
 * @returns {Promise<string>} where the manifest is
 */
export async function manifestFor(place, listed) {
  const json = /\.json$/i.test(place);
  if (!json && !/\.onnx$/i.test(place) || json && !(await readFile(place, 'utf8').catch(() => '')).includes('"modelTopology"')) return place;
  const manifest = `${place}.manifest.json`;
  if (await stat(manifest).catch(() => null)) return manifest;
  const folder = path.dirname(place);
  const names = [path.basename(place), ...(await readdir(folder)).filter((name) => !/\.(onnx|json)$/i.test(name))];
  const files = names.map((name) => ({
    name, text: () => readFile(path.join(folder, name), 'utf8'), arrayBuffer: async () => new Uint8Array(await readFile(path.join(folder, name))).buffer,
  }));
  try {
    const network = await networkAmong(files);
    const chosen = spread(listed.flatMap(({ file, label }) => (label === undefined ? [] : [{ picture: file, label: String(label) }])));
    const read = (/** @type {{embed: (pixels: any) => Promise<Float32Array>}} */ one) => ({ ...one, embed: async (/** @type {string} */ file) => one.embed(await decodePicture(file)) });
    const proposal = await proposalOf(network, {
      pictures: chosen, own: read(await loadExtractor()),
      load: async (manifest, contents) => /** @type {any} */ (read(await networkOf({ manifest, sha256: '', contents }))),
    });
    const [i, j] = proposal.best;
    const made = proposal.manifest(i, j);
    await writeFile(manifest, JSON.stringify(made, null, 1) + '\n');
    console.error(`${network.name} has no manifest. ${proposal.asked ? `${judged(proposal, proposal.best)} ` : ''}${described(made, proposal.scales[i], proposal.answers[j])} Written to ${manifest}, which counts from now on.`);
    return manifest;
  } catch (error) {
    throw new Complaint(`No manifest can be proposed for '${place}'. ${/** @type {Error} */ (error).message}`);
  }
}
