package assets_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/assets"
)

// The work for an asset does not grow with the number of assets that a request has added before it.
func TestLargePostsTakeNoMoreWorkForEachAsset(t *testing.T) {
	allocated := func(n int) (bytesOfEach float64) {
		d := newDesk(t, assets.Limits{Items: 6000, Terms: 1 << 30, ResponseBytes: 1 << 30})
		var in assets.ChangeAssetsRequest
		for i := range n {
			var text strings.Builder
			for w := range 30 {
				fmt.Fprintf(&text, "w%d ", (i*w+w)%3000)
			}
			in.Add = append(in.Add, newAsset(fmt.Sprint(i), text.String()))
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := d.As(moderator).ChangeAssets(ctx, lib, in); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		return float64(after.TotalAlloc-before.TotalAlloc) / float64(n)
	}
	few, many := allocated(200), allocated(6000)
	if t.Logf("%.0f bytes for each of 200 assets, %.0f for each of 6,000", few, many); many > 1.1*few {
		t.Errorf("an asset of a request with 6,000 takes %.2f times the memory of one with 200", many/few)
	}
}
