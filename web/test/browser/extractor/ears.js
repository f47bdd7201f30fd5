// @ts-check
import { existsSync } from 'node:fs';

/** Whether the site has YAMNet. Without it the page speaks of spoken words. */
export const every = existsSync(new URL('../../../../build/site/kinds/sounds/yamnet', import.meta.url));
/** What the page calls one example of this kind. */
export const [one, One] = every ? ['sound', 'Sound'] : ['spoken word', 'Spoken word'];
