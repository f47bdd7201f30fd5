// @ts-check
/** Zip files: what of fflate the page uses. web/build/kit.mjs bundles it for the site. */
export { zipSync } from 'fflate';
