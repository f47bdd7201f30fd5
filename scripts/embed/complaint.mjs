// @ts-check
/** Something a person can put right: shown as one sentence, exit status 2. */
export class Complaint extends Error {}
