// @ts-check
/** The package from the tarball, in this process. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { project, vector } from './project.js';

export const installed = project();

/** @type {typeof import('../../library/index.js')} */
export const metaqda = await import(pathToFileURL(path.join(installed.package, 'index.js')).href);
export const { createClassifier, openClassifier } = metaqda;
export const prior = readFileSync(path.join(installed.package, 'priors/efficientnet-lite0.safetensors'));
/** Of vectors that the prior is for. */
export const DIMENSION = JSON.parse(prior.subarray(8, 8 + Number(prior.readBigUInt64LE(0))).toString()).m.shape[0];

/** @param {string} code */
export const refusal = (code) => (/** @type {any} */ error) => error instanceof metaqda.MetaqdaError && error.code === code && /[.:]/.test(error.message);

/** A classifier of the labels with three examples each. @param {string[]} labels @param {object} [options] @param {number} [d] */
export async function taught(labels, options, d) {
  const c = await createClassifier(options);
  const ids = labels.map((label, k) => [0, 1, 2].map((i) => c.addExampleSync(vector(k, i, d), label)));
  return { c, ids };
}

/** @param {import('../../library/index.js').Prediction} p */
export function assertProbabilities({ probabilities, none }) {
  const all = [none, ...Object.values(probabilities)];
  for (const p of all) assert.ok(p >= 0 && p <= 1, `${p}`);
  assert.ok(Math.abs(all.reduce((a, b) => a + b) - 1) < 1e-9);
}
