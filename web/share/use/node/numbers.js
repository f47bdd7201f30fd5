// Recognises an example from the numbers of its feature extractor: node numbers.js example.json
import { readFile } from 'node:fs/promises';
import { openClassifier } from './metaqda/index.js';

process.on('uncaughtException', ({ message }) => process.exit(console.error(message) ?? 1)); // an error is printed in one line
const beside = (name) => new URL(name, import.meta.url);
const classifier = await openClassifier(beside('session.safetensors'), { prior: beside('prior.safetensors') });
const file = process.argv[2] ?? beside('example.json');
const numbers = await readFile(file, 'utf8').then(JSON.parse).catch(({ message }) => {
  throw new Error(`${file} holds no numbers that can be read (${message}): name a file like example.json`);
});
const { headline, probabilities, none } = await classifier.predict(numbers);
console.log(headline);
for (const [label, p] of Object.entries({ ...probabilities, 'None of these': none })) console.log(`${label}: ${(100 * p).toFixed(2)} %`);
