// Package sluice is the root of the module and holds no code. Programs import
// the packages below it:
//
//   - core builds and runs a pipeline;
//   - stateful, gating and sinks are the transforms with state, the gates and the
//     writes that report what they wrote;
//   - connectors/... read queues and publish to them;
//   - core/store/... keep what must survive a crash;
//   - acks is the acknowledgement part alone, for a consumer loop of your own.
//
// README.md says what Sluice is for, ARCHITECTURE.md how it works, and
// layout_test.go holds which package may import which.
package sluice
