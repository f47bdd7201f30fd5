// @ts-check
/** An error that a person can correct: shown as one sentence, exit status 2. */
export class Complaint extends Error {}
