// @ts-check
/** Asks a classifier. */

/** @import {Classifier, Prediction} from '../../library/index.js' */

/** The prediction for a vector, null while nothing is taught. @param {Pick<Classifier, 'predict'>} taught @param {Float32Array} vector @returns {Promise<Prediction|null>} */
export const answerTo = (taught, vector) =>
  taught.predict(vector).catch((error) => {
    if (error.code !== 'empty') throw error;
    return null;
  });
