// Package session says how probable each class of a few-shot session is, and how
// probable it is that a query belongs to none of them, given log densities that
// rank the classes well but lie too far apart to be taken as they are. It is not
// for densities (package niw is) and keeps no examples (package lda does). Its
// equations are in MODEL.md beside this file, to whose sections the files refer; the
// closest published relatives are temperature scaling (Guo et al., 2017) with the
// temperature integrated out, and the score normalisation of speaker verification
// (Auckenthaler et al., 2000) with its cohort taken from the session itself.
//
// One latent theta = (h, a, g) describes a session: how hard its classes are to
// separate, and how far above those of unknowns the scores of its own classes lie. A
// [Population] is the distribution of theta over sessions of many domains, the
// session's own examples left out in turn are its data ([Support]), and
// probabilities are averaged over the [Posterior].
package session
