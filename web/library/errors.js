// @ts-check
/**
 * Errors, by their codes:
 *
 * | code | what was refused |
 * |---|---|
 * | argument | an argument of a wrong kind, or an option that there is not |
 * | label | a class name that is blank, too long, taken or unknown |
 * | class | a class that is gone, or that an example is in already |
 * | undo | a change that cannot be undone any more |
 * | limit | more than 2,000 classes or 20,000 examples |
 * | example | an id of no example |
 * | dimension | a vector of another length |
 * | value | a number that is not finite, or a setting out of range |
 * | empty | a question before the first example |
 * | extractor | a picture without an extractor, or numbers of another one |
 * | prior | a file whose prior is not at hand |
 * | format, older | bytes that are no file of metaqda, or one of a former version |
 * | disposed | a call after dispose |
 * | fetch, wasm, unsupported | the engine, or a prior, could not be had |
 * | internal | a mistake in metaqda |
 */
export { MetaqdaError } from '../base/remote.js';
