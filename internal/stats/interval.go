package stats

import "math"

// A Rate is a share of a number of cases, with its 95 % interval.
type Rate struct{ Value, Low, High float64 }

// z is the quantile of the normal distribution for 95 %.
const z = 1.959963984540054

// Wilson returns the share of some cases with the score interval of Wilson, which is also right for
// few cases and for rare ones. Without cases, nothing is known.
func Wilson(some, all int) Rate {
	if all <= 0 {
		return Rate{0, 0, 1}
	}
	n, k := float64(all), float64(some)
	p := k / n
	d := 1 + z*z/n
	middle := (p + z*z/(2*n)) / d
	half := z / d * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	r := Rate{p, middle - half, middle + half}
	if some == 0 {
		r.Low = 0
	}
	if some == all {
		r.High = 1
	}
	return r
}
