// Package sinks answers the question "what was written, and what was not?".
package sinks
