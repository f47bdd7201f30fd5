// Package tables draws reports and training curves for people: aligned text, Markdown, and pictures
// in SVG. It only shows numbers of the report, and writes no files.
//
// The tables have the form of the MetaQDA paper's (Zhang et al., ICCV 2021). The
// reliability diagrams of DeGroot and Fienberg (1983) have the form of Guo et al., "On
// Calibration of Modern Neural Networks" (2017).
package tables
