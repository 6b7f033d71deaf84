module rouse/benchmarks/peers/go

go 1.19
