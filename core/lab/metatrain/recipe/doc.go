// Package recipe learns priors from data sets. It chooses the coordinates, draws the episodes and
// selects by validation. It fits the session model on validation classes, or by cross-fitting over
// families of domains.
//
// A [Recipe] and the data determine the bytes of a prior. [Shipped] is the recipe of the page's
// prior. [New] makes a [Run] of it; the caller runs its trainer. [Run.Prior] and [Run.Folds] return
// the results. The package reads and writes no files. It is not for training in a browser tab: a tab
// has its own data and keeps the session model of the prior that it started from.
//
// Episodes and objective are Algorithm 1 of Zhang, Meng, Gouk and Hospedales,
// "Shallow Bayesian Meta Learning for Real-World Few-Shot Recognition" (ICCV 2021);
// see core/lab/metatrain. The session model is that of core/session. It is fitted on predictions
// for folds that the prior did not learn from. This is the cross-fitting of Chernozhukov et al.,
// "Double/debiased machine learning" (2018), or the stacking of Wolpert, "Stacked generalization"
// (1992).
package recipe
