// Package experiment runs few-shot classifiers through the protocols of the field
// and measures accuracy, calibration and the detection of unknown classes.
//
// A [Plan] names the protocol, its numbers and the methods; [Plan.Run] draws the
// episodes of each [Domain], lets every [Method] score the same ones and returns a
// [Record] of each as a [Part]; [Merge] puts parts together and gives the [Report].
// Whatever is summed is summed in the order of the episodes, so that the report has
// the same bytes for any number of workers and of shards.
//
// A method of one's own is a value like those of [Methods]: see the example. More
// than one machine takes shards: scripts/shards has what runs them. The package draws
// no tables and no pictures, reads and writes no files, learns no prior, and knows
// nothing of command lines, though its remedies name the flags of the command metaqda.
//
// The protocols are those of Zhang, Meng, Gouk and Hospedales, "Shallow Bayesian
// Meta Learning for Real-World Few-Shot Recognition" (ICCV 2021), tables 1 to 8;
// episodes of random way and shot are those of Triantafillou et al., "Meta-Dataset"
// (2020). ECE is of Naeini et al. (2015), temperature scaling of Guo et al. (2017),
// the detection of classes that are not among the task's own by AUROC against one
// minus the largest probability of Hendrycks and Gimpel (2017).
package experiment
