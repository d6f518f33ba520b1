module github.com/gosluice/sluice/bench

go 1.26.0

require github.com/gosluice/sluice v0.0.0

replace github.com/gosluice/sluice => ../
