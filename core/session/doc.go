// Package session says how probable each class of a few-shot session is, and how
// probable it is that a query belongs to none of them, given log densities that
// are right about the order but not about the odds. It is no density model
// (package niw is) and keeps no examples (package qda does).
//
// One latent theta = (h, a, g) describes a session: how hard its classes are to
// tell apart, and how far above those of unknowns the scores of its own classes
// lie. A [Population] is the distribution of theta over sessions of many domains,
// the session's own examples left out in turn are its data ([Support]), and
// probabilities are averaged over the [Posterior]. MODEL.md beside this file has
// the equations; the files refer to its sections. The closest published
// relatives are temperature scaling (Guo et al., 2017) with the temperature
// integrated out, and the score normalisation of speaker verification (Auckenthaler
// et al., 2000), with its cohort taken from the session itself.
package session
