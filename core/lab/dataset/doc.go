// Package dataset reads labelled embeddings: one row of numbers for each
// example, the class of each row, and the classes of each split. It is not for
// pictures, nor for preprocessing (see core/embed).
//
// Three layouts are read:
//
//	NAME.npz            arrays "embeddings" (N x d) and "labels" (N, numbers or names), with NAME.json beside it
//	NAME.npy            embeddings, labels in NAME.labels.npy, NAME.json beside it
//	NAME.csv            one row per example, one column of class names, NAME.json optional
//
// A .npz may hold a third array "groups" (N); for a .npy this is the file
// NAME.groups.npy. Rows of one group are frames of one burst or views of one
// thing. A group is never in both support and query.
//
// Embeddings without labels are read by [LoadRows].
//
// NAME.json holds {"name", "dimension", "classes", "splits", "extractor",
// "extractor_sha256", "files"}.
// "splits" maps a split's name to its class names; splits may also come from a
// separate file or folder, see [Set.ReadSplits].
//
// All that is read is checked first: a [Set] has finite rows of one length,
// labels within its classes and splits that share no class.
package dataset
