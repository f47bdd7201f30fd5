// Written by web/build/package.mjs: extractor.json of the extractor in the package.
/** sha256 of the prior for it. */
export const priorSum: string;
/** Of the extractors of sounds and hands, by their kind. */
export const kinds: Record<'sounds' | 'hands', import('../../extractor/networks.js').Recorded>;
export const record: import('../../extractor/download.js').ExtractorRecord;
