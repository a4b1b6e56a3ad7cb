package main

import "testing"

func TestByteSize(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"1": 1, "500MiB": 500 << 20, "4G": 4 << 30, "2 GB": 2e9, "10kb": 1e4, "7B": 7,
		"": 0, "0": 0, "-1": 0, "x": 0, "MiB": 0, "1.5G": 0, "9999999999G": 0, "1PiB": 0,
	} {
		var s byteSize
		if err := s.Set(text); int64(s) != want || (err == nil) != (want > 0) {
			t.Errorf("%q: %d, %v", text, s, err)
		}
	}
}
