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

/** @param {unknown} error @returns {{code: string, message: string}} */
export function envelopeOf(error) {
  const { code, message } = /** @type {{code?: unknown, message?: unknown}} */ (error ?? {});
  return {
    code: typeof code === 'string' ? code : 'extractor-failed',
    message: typeof message === 'string' && message !== '' ? message : String(error),
  };
}
