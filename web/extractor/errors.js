// @ts-check
/** An error a person may read: `code` for programs, a sentence with the remedy for people. */
export class ExtractorError extends Error {
  /** @param {string} code @param {string} message */
  constructor(code, message) {
    super(message);
    this.name = 'ExtractorError';
    this.code = code;
  }
}
