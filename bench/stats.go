package main

import (
	"math"
	"slices"
	"time"
)

// series are the durations of one kind of thing.
type series []time.Duration

// at is the value below which the share q of them lies (nearest rank).
func (s series) at(q float64) time.Duration {
	if len(s) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s))
	rank := int(math.Ceil(q * float64(len(sorted))))
	return sorted[min(max(rank, 1), len(sorted))-1]
}

// row is what is said of a series, in milliseconds.
type row struct {
	Name string  `json:"name"`
	N    int     `json:"n"`
	P50  float64 `json:"p50_ms"`
	P99  float64 `json:"p99_ms"`
	Max  float64 `json:"max_ms"`
}

func (s series) row(name string) row {
	return row{Name: name, N: len(s), P50: milliseconds(s.at(0.5)), P99: milliseconds(s.at(0.99)), Max: milliseconds(s.at(1))}
}

func milliseconds(d time.Duration) float64 { return round(float64(d)/float64(time.Millisecond), 2) }

func round(x float64, digits int) float64 {
	scale := math.Pow10(digits)
	return math.Round(x*scale) / scale
}

// median of numbers; 0 of none.
func median[T int | int64 | float64](numbers []T) T {
	if len(numbers) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(numbers))
	return sorted[(len(sorted)-1)/2]
}

// over is a/b, 0 where there is no b.
func over(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return round(a/b, 2)
}
