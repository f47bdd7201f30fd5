/** An error a person may read: `code` for programs, a sentence with the remedy for people. */
export declare class ExtractorError extends Error {
    code: string;
    /** @param {string} code @param {string} message */
    constructor(code: string, message: string);
}
