// Recognises a picture: node recognise.js picture.jpg
import { openClassifier } from './metaqda/index.js';
import { loadExtractor } from './pictures.js';

process.on('uncaughtException', ({ message }) => process.exit(console.error(message) ?? 1)); // an error is printed in one line
if (!process.argv[2]) throw new Error('Name a picture: node recognise.js picture.jpg');
const beside = (name) => new URL(name, import.meta.url);
const extractor = await loadExtractor(); // the network that turns pictures into numbers
const classifier = await openClassifier(beside('session.safetensors'), { prior: beside('prior.safetensors'), extractor });
const { headline, probabilities, none } = await classifier.predict(process.argv[2]);
console.log(headline);
for (const [label, p] of Object.entries({ ...probabilities, 'None of these': none })) console.log(`${label}: ${(100 * p).toFixed(2)} %`);
