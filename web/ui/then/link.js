// @ts-check
/** Functions that the connections to devices share. */

/** A listener that is set later. @returns {{lost: (why: string) => void, onLost: (listener: (why: string) => void) => void}} */
export function loss() {
  /** @type {(why: string) => void} */
  let listener = () => {};
  return {
    lost: (why) => listener(why),
    onLost: (given) => {
      listener = given;
    },
  };
}

/** The error to show for an error of the browser: with the sentence for its name, or else `other`. @param {unknown} error @param {Record<string, string>} sentences @param {string} other */
export const reason = (error, sentences, other) => new Error(sentences[error instanceof Error ? error.name : ''] ?? other, { cause: error });

/** The bytes of a text and a line feed. @param {string} text */
export const line = (text) => new TextEncoder().encode(`${text}\n`);

/** Says why this page cannot use an interface that some browsers lack; empty if it can. @param {string} name in navigator @param {string} what @param {string} where which browser has it */
export function lacking(name, what, where) {
  if (!isSecureContext) return `Only a secure page can use ${what}: open this page by https or on localhost.`;
  return name in navigator ? '' : `This browser cannot use ${what}: open this page in ${where}.`;
}
