package quantity

import "testing"

func TestBytes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"1": 1, "500MiB": 500 << 20, "4G": 4 << 30, "2 GB": 2e9, "10kb": 1e4, "7B": 7, "1024GiB": 1 << 40, "2TiB": 2 << 40,
		"1,000,000": 1e6, "60_000B": 6e4, "1,234KB": 1234e3, "1,23": 0, "1,2345": 0, ",123": 0, "1,": 0, "1,000_000": 0, "1000,000": 0, "1,-00": 0,
		"": 0, "0": 0, "-1": 0, "x": 0, "MiB": 0, "1.5G": 0, "9999999999G": 0, "9223372036854775807K": 0, "1PiB": 0,
	} {
		var s Bytes
		if err := s.Set(text); int64(s) != want || (err == nil) != (want > 0) {
			t.Errorf("%q: %d, %v", text, s, err)
		}
	}
	for size, want := range map[Bytes]string{0: "", 64 << 20: "64MiB", 1000: "1000", 1 << 30: "1024MiB"} {
		if got := size.String(); got != want {
			t.Errorf("%d is %s", size, got)
		}
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"1": 1, "60000": 6e4, "60_000": 6e4, "60,000": 6e4, "60k": 6e4, "60K": 6e4, "1M": 1e6, "1,048k": 1048e3,
		"": 0, "0": 0, "-5": 0, "k": 0, "6e4": 0, "60.5k": 0, "60kb": 0, "60 k": 0, "1,5": 0, "9999999999999M": 0,
	} {
		var c Tokens
		if err := c.Set(text); int64(c) != want || (err == nil) != (want > 0) {
			t.Errorf("%q: %d, %v", text, c, err)
		}
	}
}
