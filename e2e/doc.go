// Package e2e holds the end-to-end tests: programs as users run them, against real
// servers or emulators, killed and cut off. They run with `make e2e` (build tag
// e2e); the emulators below this folder are also for users' own tests.
package e2e
