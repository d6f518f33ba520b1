// Package connectortest is a suite for authors of connectors: does a source, or a
// publisher, keep its contract?
//
// A connector gives a [Harness], which makes an empty queue on a broker (a real one,
// a fake, an embedded one) and a source that reads it; [Run] runs every check that
// the source's capabilities call for. [RunPublisher] does the same for the other
// direction.
//
//	func TestContract(t *testing.T) {
//		connectortest.Run(t, connectortest.Harness{New: func(t *testing.T, s connectortest.Setup) connectortest.Queue {
//			...
//		}})
//	}
//
// The checks wait for what must happen, and for a fraction of the lease for what
// must not. Goroutines: none that outlive a check.
package connectortest
