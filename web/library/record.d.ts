// Written by web/build/package.mjs: extractor.json of the extractor that is packed beside.
export const record: import('../extractor/download.js').ExtractorRecord;
