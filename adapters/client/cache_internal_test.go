package client

import (
	"fmt"
	"strings"
	"testing"
)

func TestTheCacheKeepsWhatWasUsedLastWithinItsBytes(t *testing.T) {
	entry := func(i int) kept {
		return kept{fmt.Sprintf("url %02d", i), "etag", []byte(strings.Repeat("x", 989-overhead))}
	}
	c := newCache(3 * entry(0).size())
	for i := range 3 {
		c.put(entry(i))
	}
	c.get("url 00")
	c.put(entry(3)) // in place of 1, which was used least lately
	for i, want := range []bool{true, false, true, true} {
		if have := c.get(entry(i).url).etag != ""; have != want {
			t.Errorf("%d is kept: %t", i, have)
		}
	}
	c.put(entry(2)) // again: nothing must go
	c.put(kept{url: "no etag"})
	if c.by.Len() != 3 || c.by.Size() != c.most {
		t.Errorf("%d entries of %d bytes", c.by.Len(), c.by.Size())
	}
	big := kept{"big", "etag", make([]byte, 4000)}
	c.put(big)
	if c.by.Len() != 3 || c.by.Size() != c.most {
		t.Errorf("after one that is larger than the cache: %d entries of %d bytes", c.by.Len(), c.by.Size())
	}
	var none *cache = newCache(0)
	none.put(entry(0))
	if none.get("url 00").etag != "" {
		t.Error("no cache keeps something")
	}
}
