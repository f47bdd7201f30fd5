// @ts-check
import { MetaqdaError } from '../base/remote.js';

/** The error of an extractor: `code` for programs, a sentence with the remedy for people. */
export class ExtractorError extends MetaqdaError {
  name = 'ExtractorError';
}
