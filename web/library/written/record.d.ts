// Written by web/build/package.mjs: extractor.json of the extractor that is packed beside.
/** sha256 of the prior for it. */
export const priorSum: string;
export const record: import('../../extractor/download.js').ExtractorRecord;
