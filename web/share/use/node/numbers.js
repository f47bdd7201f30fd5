// Says what an example is by the numbers of its feature extractor: node numbers.js example.json
import { readFile } from 'node:fs/promises';
import { openClassifier } from './metaqda/index.js';

const beside = (name) => new URL(name, import.meta.url);
const classifier = await openClassifier(beside('session.safetensors'), { prior: beside('prior.safetensors') });
const numbers = JSON.parse(await readFile(process.argv[2] ?? beside('example.json'), 'utf8'));
const { headline, probabilities, none } = await classifier.predict(numbers);
console.log(headline);
for (const [label, p] of Object.entries({ ...probabilities, 'None of these': none })) console.log(`${label}: ${(100 * p).toFixed(2)} %`);
