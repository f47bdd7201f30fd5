// @ts-check
/**
 * What is refused: `code` is a short word for programs, `message` a sentence for people that names the remedy.
 *
 * | code | what was refused |
 * |---|---|
 * | argument | an argument of a wrong kind |
 * | label | a class name that is blank, taken or unknown |
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
export class MetaqdaError extends Error {
  /** @param {string} code @param {string} message */
  constructor(code, message) {
    super(message);
    this.name = 'MetaqdaError';
    this.code = code;
  }
}
