package dialect

import "testing"

// What is not only checked can be written.
func TestWriters(t *testing.T) {
	for _, d := range All() {
		if _, ok := d.Driver.(Writer); !ok && d.CheckOnly == "" {
			t.Errorf("%s: the driver cannot write", d.Name)
		}
	}
}
