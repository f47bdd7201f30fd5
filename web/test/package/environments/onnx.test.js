// @ts-check
/** A classifier as an ONNX file in ONNX Runtime for Node.js, which is no part of the page's own tests: it has 290 MB. */
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { LONG } from '../../long.js';
import { furthest, ofPictures, ofVectors, prior, runtime } from '../../onnx.js';

test('ONNX Runtime for Node.js answers as the classifier does, from vectors and from pictures', LONG, async () => {
  const ort = createRequire(import.meta.url)('onnxruntime-node');
  for (const asked of [await ofVectors({ prior }, 5), await ofPictures()]) {
    const most = await furthest(asked, await runtime(ort, asked.bytes));
    console.log(`# onnxruntime-node, ${asked.asked.length} of ${asked.asked[0].input}: ${most.toExponential(1)} at most`);
    assert.ok(most < 1e-5, `${most}`);
  }
});
