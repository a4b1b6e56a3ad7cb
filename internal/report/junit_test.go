package report

import "testing"

// TestInXML: text is escaped for elements and attributes, and holds no character that
// XML refuses.
func TestInXML(t *testing.T) {
	t.Parallel()
	const text = "a\t<b c=\"d\" e='f'> & \x00\x1b\x7f\u0085\ufffe\uffff\xff ü 🙂"
	const want = "a&lt;09&gt;&lt;b c=&#34;d&#34; e=&#39;f&#39;&gt; &amp; &lt;00&gt;&lt;1b&gt;&lt;7f&gt;&lt;c2&gt;&lt;85&gt;\ufffd\ufffd&lt;ff&gt; ü 🙂"
	if got := inXML(text); got != want {
		t.Errorf("%q", got)
	}
}
