// @ts-check
import { MetaqdaError } from '../base/remote.js';

/** What an extractor refuses: `code` for programs, a sentence with the remedy for people. */
export class ExtractorError extends MetaqdaError {
  name = 'ExtractorError';
}
