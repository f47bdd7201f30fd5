// @ts-check
/** Types of storage, of learning and batches, and of extractors. Nothing here runs. */
export * from '../engine/contract.js';
/** @typedef {import('../engine/contract.js').LoadedEngine & import('./session.js').Teaching} LoadedEngine */
/** @typedef {import('../engine/contract.js').Engine & import('./session.js').Teaching} Engine */
/** @typedef {import('../extractor/index.js').Extractor} Extractor */
/** @typedef {import('../extractor/own/kept.js').Kept} Kept */
/** @typedef {import('../extractor/own/propose.js').Proposal} Proposal */
/** @typedef {import('../extractor/download.js').ExtractorRecord} ExtractorRecord */
/**
 * @typedef {object} StorageOptions
 * @property {string | undefined} [name] of the database, `metaqda` if left out; each application of this origin needs its own
 * @property {import('./files.js').ProgramSource | undefined} [wasm] address or content of `storage.wasm`; beside this module if left out
 * @property {(() => Worker) | undefined} [worker] starts `metaqda/storage-thread` for Batch, learn and large sessions; for bundlers that must see its address
 * @property {boolean | undefined} [simd] false computes without SIMD: slower, the same answers
 * @property {import('../engine/contract.js').OnProgress | undefined} [onProgress] bytes of the program as they arrive
 */
