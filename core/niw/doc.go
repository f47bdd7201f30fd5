// Package niw holds the Normal-inverse-Wishart prior of MetaQDA, the conjugate update of one
// class and the two predictive densities. It does not sample from these distributions, and
// takes no prior with a singular scale matrix. The model is that of Zhang, Meng, Gouk and
// Hospedales, Shallow Bayesian Meta Learning for Real-World Few-Shot Recognition, ICCV 2021.
// Two misprints of that text are corrected: the posterior mean weighs m by kappa, and the mode
// of the joint density divides S by nu+d+2.
//
// The convention throughout is
//
//	Sigma ~ IW(S, nu),   mu | Sigma ~ N(m, Sigma/kappa),   S = L Lᵀ
//
// where m has length d, kappa > 0 and nu > d-1. S is the d×d scale matrix of the inverse Wishart,
// with the lower triangular Cholesky factor L. With nu > d+1 the expected covariance is E[Sigma] =
// S/(nu-d-1).
//
// Nothing of size d×d is factorised while K < d. An example x is whitened once, w = L⁻¹(x-m).
// Then the prior scale is the identity, and the posterior of a class with K examples needs only
// their K×K Gram matrix. When K >= d the posterior scale matrix itself is smaller (package
// discriminant).
package niw
