// @ts-check
/**
 * Writes a made-up data set for the shortest form of `make reproduce`: 45 classes of 36 rows of 6 numbers, normally
 * distributed around their class means: `node numbers.mjs FOLDER NAME`. The same bytes each time.
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { encodeNPZ } from '../../scripts/embed/npz.mjs';

const [folder, name] = process.argv.slice(2);
const [CLASSES, EACH, DIMENSION] = [45, 36, 6];

let state = 1; // Park and Miller's generator, then Box and Muller's transform
const uniform = () => (state = (state * 48271) % 2147483647) / 2147483647;
const normal = () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());

const means = Array.from({ length: CLASSES * DIMENSION }, normal);
const labels = Int32Array.from({ length: CLASSES * EACH }, (_, i) => Math.floor(i / EACH));
const embeddings = Float32Array.from({ length: labels.length * DIMENSION }, (_, i) => {
  const label = labels[Math.floor(i / DIMENSION)];
  return means[label * DIMENSION + (i % DIMENSION)] + normal();
});
const arrays = {
  labels: { shape: [labels.length], data: labels },
  embeddings: { shape: [labels.length, DIMENSION], data: embeddings },
};
writeFileSync(path.join(folder, `${name}.npz`), encodeNPZ(arrays));

const classes = Array.from({ length: CLASSES }, (_, i) => `c${i}`);
const splits = { train: classes.slice(0, 25), val: classes.slice(25, 35), test: classes.slice(35) };
writeFileSync(path.join(folder, `${name}.json`), JSON.stringify({ name, dimension: DIMENSION, classes, splits }));
