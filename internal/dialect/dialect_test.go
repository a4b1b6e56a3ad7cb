package dialect

import "testing"

// TestWriters checks that every dialect that is repaired has a Writer.
func TestWriters(t *testing.T) {
	for _, d := range All() {
		if _, ok := d.Driver.(Writer); !ok && d.CheckOnly == "" {
			t.Errorf("%s: the driver is not a Writer", d.Name)
		}
	}
}
