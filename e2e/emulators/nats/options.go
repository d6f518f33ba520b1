package natsemu

type config struct {
	tcp        bool
	port       int
	syncAlways bool
	maxPayload int32
}

// Option changes how a server is started. By default it has no port, is reached
// in process only, and syncs its files now and then (a confirmed publish is then
// not yet on disk).
type Option func(*config)

// TCP listens on a free port of the loopback interface.
func TCP() Option { return func(c *config) { c.tcp = true } }

// Port listens on that port of the loopback interface.
func Port(port int) Option { return func(c *config) { c.tcp, c.port = true, port } }

// SyncAlways syncs every write before it is confirmed.
func SyncAlways() Option { return func(c *config) { c.syncAlways = true } }

// MaxPayload is the largest message the server takes, in bytes; 1 MiB by default.
func MaxPayload(bytes int32) Option { return func(c *config) { c.maxPayload = bytes } }
