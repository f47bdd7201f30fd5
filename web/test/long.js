// @ts-check
/**
 * The options of a test that takes long, and of which others, shorter ones, show the most: `make test` leaves it out,
 * `make test-all` has it.
 *
 * @type {{skip?: string}}
 */
export const LONG = process.env.METAQDA_LONG ? {} : { skip: 'long: make test-all' };
