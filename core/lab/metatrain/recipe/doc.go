// Package recipe learns priors from data sets, from reading to what is shipped: it
// settles the coordinates, draws the episodes, selects by validation, and fits the
// session model, on validation classes or by cross-fitting over families of domains.
//
// A [Recipe] is everything that decides the bytes of a prior but the data;
// [Shipped] is that of the prior the page begins with. [New] makes a [Run] of it,
// whose trainer the caller runs; [Run.Prior] and [Run.Folds] give the
// results. The package is not for training in a browser tab, which has its own data
// and keeps the session model of the prior it began at, and reads and writes no
// files.
//
// Episodes and objective are Algorithm 1 of Zhang, Meng, Gouk and Hospedales,
// "Shallow Bayesian Meta Learning for Real-World Few-Shot Recognition" (ICCV 2021);
// see core/lab/metatrain. The session model is that of core/session. Fitting it on
// predictions for folds that the fitted prior did not learn from is the cross-fitting
// of Chernozhukov et al., "Double/debiased machine learning" (2018), or the stacking
// of Wolpert, "Stacked generalization" (1992).
package recipe
