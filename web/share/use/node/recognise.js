// Says what an embedding is: node recognise.js example.json
import { readFile } from 'node:fs/promises';
import { openClassifier } from './metaqda/index.js';

const beside = (name) => new URL(name, import.meta.url);
const classifier = await openClassifier(beside('session.safetensors'), { prior: beside('prior.safetensors') });
const embedding = JSON.parse(await readFile(process.argv[2] ?? beside('example.json'), 'utf8'));
const { headline, probabilities, none } = await classifier.predict(embedding);
console.log(headline);
for (const [label, p] of Object.entries({ ...probabilities, 'None of these': none })) console.log(`${label}: ${(100 * p).toFixed(2)} %`);
