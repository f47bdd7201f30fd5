// @ts-check
/** Types of what is kept, of what learns and judges, and of extractors. Nothing here runs. */
export * from '../engine/contract.js';
/** @typedef {import('../engine/index.js').LoadedEngine} LoadedEngine */
/** @typedef {import('../engine/program.js').OnProgress} OnProgress */
/** @typedef {import('../engine/judge.js').Answers} Answers */
/** @typedef {import('../engine/trainer.js').FullEngine} FullEngine */
/** @typedef {import('../engine/trainer.js').Dataset} Dataset */
/** @typedef {import('../engine/trainer.js').Learned} Learned */
/** @typedef {import('../engine/trainer.js').Point} Point */
/** @typedef {import('../engine/trainer.js').Progress} Progress */
/** @typedef {import('../engine/trainer.js').Started} Started */
/** @typedef {import('../extractor/index.js').Extractor} Extractor */
/** @typedef {import('../extractor/kept.js').Kept} Kept */
/** @typedef {import('../extractor/download.js').ExtractorRecord} ExtractorRecord */
