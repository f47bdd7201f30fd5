// Package session turns log densities into probabilities: of each class of a few-shot session, and
// of none of them. The log densities rank the classes well, but their differences are too large to
// give probabilities directly. It is not for densities (package niw is) and keeps no examples
// (package lda does). Its equations are in MODEL.md beside this file; the files refer to its
// sections. Two published methods are closest. One is temperature scaling (Guo et al., 2017), here
// with the temperature integrated out. The other is the score normalisation of speaker verification
// (Auckenthaler et al., 2000), here with the session itself as the cohort.
//
// One latent theta = (h, a, g) describes a session: how hard its classes are to separate, and how
// far the scores of known queries lie above those of unknown ones. A [Population] is the
// distribution of theta over sessions of many domains. The data are the session's own examples,
// left out in turn ([Support]). Probabilities are averaged over the [Posterior].
package session
