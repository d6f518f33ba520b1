package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/pprof"
	"strings"
)

// profiled makes a profile of each variant in each round: a round alone has too few
// samples, pprof adds those of several files.
func (s *session) profiled(figure string) runner {
	if s.profiles == "" {
		return nil
	}
	return func(v variant, round int) (sample, error) {
		if round < 0 {
			return v.run()
		}
		name := strings.NewReplacer("/", "-", " ", "-", "=", "-", ",", "").Replace(figure + "-" + v.name)
		f, err := os.Create(filepath.Join(s.profiles, fmt.Sprintf("%s.%d.pprof", name, round)))
		if err != nil {
			return nil, err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return nil, err
		}
		defer pprof.StopCPUProfile()
		return v.run()
	}
}
