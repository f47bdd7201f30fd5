// @ts-check
/** A small program for each entry of the package. It puts its result into the page, or prints it where there is none. */

const TELL = `
const tell = (result) => {
  if (globalThis.document) document.body.dataset.result = JSON.stringify(result);
  else console.log(JSON.stringify(result));
};
`;

const vectors = `
import { createClassifier } from 'metaqda';
import { create } from 'metaqda/knn-classifier';
${TELL}
const c = await createClassifier();
c.addExampleSync([1, 0, 0.1], 'a');
c.addExampleSync([0, 1, 0.1], 'b');
const { label } = c.predictSync([0.9, 0.1, 0]);
c.dispose();
const knn = create();
knn.addExample({ dataSync: () => [1, 0], shape: [2] }, 'x');
const { label: same } = await knn.predictClass({ dataSync: () => [1, 0], shape: [2] });
tell({ label, knn: same, global: 'Go' in globalThis });
`;

/** The worker answers as the window does, refuses as it does, tells its progress and can be stopped. @param {string} [options] of ClassifierWorker */
export const workerProgram = (options = '') => `
import { createClassifier } from 'metaqda';
import { ClassifierWorker } from 'metaqda/worker';
${TELL}
const c = await createClassifier();
c.addExampleSync([1, 0, 0.1], 'a');
c.addExampleSync([0, 1, 0.1], 'b');
const worker = new ClassifierWorker(${options});
const remote = await worker.openClassifier(c.save());
const same = (await remote.predict([0.9, 0.1, 0])).none === c.predictSync([0.9, 0.1, 0]).none;
const refused = await remote.predict([1]).catch((error) => error.code);
const batchOf = (n) => Array.from({ length: n }, (_, i) => [1 - i / n, i / n, 0.1]);
let told = 0;
const there = await remote.classify(batchOf(300), { onProgress: () => told++ });
const here = await c.classify(batchOf(300));
const judged = told > 0 && here.every((p, i) => Math.abs(p.probabilities.a - there[i].probabilities.a) < 1e-9);
const [next] = await remote.suggest(batchOf(300), { count: 1 });
const controller = new AbortController();
const stopped = await remote.classify(batchOf(3000), { signal: controller.signal, onProgress: () => controller.abort() }).catch((error) => error.name);
worker.terminate();
c.dispose();
tell({ same, refused, judged, next: next > 50 && next < 250, stopped });
`;

/** The extractor of pictures and its prior, on pictures drawn here. @param {string} [options] of loadExtractor */
export const picturesProgram = (options = '') => `
import { createClassifier } from 'metaqda';
import { loadExtractor, prior } from 'metaqda/extractors/efficientnet-lite0';
${TELL}
function drawing(shape, colour) {
  const picture = new ImageData(80, 80);
  for (let y = 0; y < 80; y++) for (let x = 0; x < 80; x++) {
    const [dx, dy] = [x - 39.5, y - 39.5].map(Math.abs);
    const inside = shape === 'disc' ? Math.hypot(dx, dy) < 30 : Math.max(dx, dy) < 25;
    picture.data.set([...inside ? colour : [255, 255, 255], 255], 4 * (80 * y + x));
  }
  if (!globalThis.document) return picture;
  const canvas = Object.assign(document.createElement('canvas'), { width: 80, height: 80 });
  canvas.getContext('2d').putImageData(picture, 0, 0);
  return canvas;
}
const extractor = await loadExtractor(${options});
const c = await createClassifier({ extractor, prior: prior() });
for (const shape of ['disc', 'square']) for (const colour of [[220, 60, 25], [25, 220, 60], [60, 25, 220]]) await c.addExample(drawing(shape, colour), shape);
const { label, none } = await c.predict(drawing('disc', [220, 220, 25]));
extractor.close();
tell({ label, sure: none < 0.5 });
`;

/** Keeps examples, answers about a batch (in a worker where there is one), and leaves one out, which takes the engine of vectors. @param {string} [options] of openStorage */
export const storageProgram = (options = "name: 'kept' + performance.timeOrigin") => `
import { openStorage } from 'metaqda/storage';
${TELL}
const s = await openStorage({ ${options} });
await s.classifier.addExample([1, 0, 0.1], 'a');
await s.classifier.addExample([0, 1, 0.1], 'b');
const [{ label, probabilities }] = await s.classifier.classify([[0.9, 0.1, 0]]);
const alone = await s.classifier.predict([0.9, 0.1, 0]);
tell({ label, same: Math.abs(probabilities.a - alone.probabilities.a) < 1e-9, left: (await s.classifier.leaveOneOut()).length, kept: (await s.state()).storage.kept });
`;

/** @type {Record<string, string>} */
export const PROGRAMS = { vectors, worker: workerProgram(), pictures: picturesProgram(), storage: storageProgram() };

/** What they tell in a browser. @type {Record<string, object>} */
export const WANT = {
  vectors: { label: 'a', knn: 'x', global: false },
  worker: { same: true, refused: 'dimension', judged: true, next: true, stopped: 'AbortError' },
  pictures: { label: 'disc', sure: true },
  storage: { label: 'a', same: true, left: 2, kept: true },
};
