// Package metatrain learns the prior of core/niw from labelled embeddings of other classes. It is
// Algorithm 1 of Zhang, Meng, Gouk and Hospedales, Shallow Bayesian Meta Learning for Real-World
// Few-Shot Recognition, ICCV 2021, with one sign corrected: the log likelihood L is to grow, and the
// paper subtracts its gradient. It has the paper's two losses and one for queries of unknown
// classes. It is not for training a feature extractor. Callers handle data sets with rules of their
// own. The gradients are worked out by hand; each file states the forward equations that its
// reverse pass follows.
//
// A [Trainer] runs the steps: [Episodes] give tasks, an [Engine] their losses and
// gradients, a [Validator] measures on episodes that stay the same. The number of
// goroutines does not change the result. A [Base] is a closed-form start. Session models are fitted
// on [Sessions].
package metatrain
