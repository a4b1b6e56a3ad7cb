package bench

// random is splitmix64. It returns the same numbers for the same seed in every version of Go.
type random struct{ state uint64 }

func (r *random) next() uint64 {
	r.state += 0x9E3779B97F4A7C15
	z := r.state
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// below returns a number from 0 to n-1.
func (r *random) below(n int) int { return int((r.next() >> 33) % uint64(n)) }

// one returns true once in n times on average.
func (r *random) one(n int) bool { return r.below(n) == 0 }

func (r *random) pick(from []string) string { return from[r.below(len(from))] }

// size draws from a distribution that is given by its deciles, in ascending order.
func (r *random) size(deciles []int) int {
	at := r.below(1000 * (len(deciles) - 1))
	low, high := deciles[at/1000], deciles[at/1000+1]
	return low + (high-low)*(at%1000)/1000
}

const (
	hexadecimal  = "0123456789abcdef"
	alphanumeric = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	base64Digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
)

// digits returns n characters of an alphabet.
func (r *random) digits(alphabet string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[r.below(len(alphabet))]
	}
	return string(b)
}

func (r *random) uuid() string {
	return r.digits(hexadecimal, 8) + "-" + r.digits(hexadecimal, 4) + "-4" + r.digits(hexadecimal, 3) + "-a" +
		r.digits(hexadecimal, 3) + "-" + r.digits(hexadecimal, 12)
}
