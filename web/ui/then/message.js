// @ts-check
/** Posts a message to the pages that listen. */
import { messages } from './messages.js';

/** @type {import('./index.js').Device} */
export const message = {
  id: 'message',
  does: 'post a message to other pages',
  fields: [{ name: 'text', label: 'Message', kind: 'text', first: '', most: 300, hint: 'It goes to pages that asked to listen and that you allowed.' }],
  words: ({ text }) => `post “${text}” to the pages that listen`,
  lacks: () => '',
  run: async ({ text }, event) => {
    if (!messages.post({ message: text, event })) throw new Error('No page listens yet: open a page that asks to listen, and allow it here.');
  },
};
