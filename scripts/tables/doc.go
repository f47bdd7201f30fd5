// Package tables draws reports and training curves for people: aligned text,
// Markdown, and pictures in SVG. It computes nothing that is not in the
// report and writes no files.
//
// The tables have the shape of those of the MetaQDA paper (Zhang et al., ICCV 2021);
// reliability diagrams are those of DeGroot and Fienberg (1983) in the form of Guo
// et al., "On Calibration of Modern Neural Networks" (2017).
package tables
