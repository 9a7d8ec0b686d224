// Package posts makes assets for benchmarks that resemble those of a real library. They are short texts in folders,
// with tags, from a few services. The frequencies of words are those of a language (Zipf's law). Post returns the same
// asset for the same number.
package posts

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/vitrine-go/vitrine/assets"
)

// Words of a known frequency.
const (
	Common = "wa" // in about two thirds of the posts
	Mid    = "wm" // in one of a hundred
	Rare   = "wr" // in one of ten thousand
)

// Folders is the number of folders that posts are in. They are two levels deep: every tenth folder is the parent of the
// nine after it.
const Folders = 200

// vocabulary is the number of different words.
const vocabulary = 50_000

// Post returns post i, in one of these folders.
func Post(i int, folders []string) assets.NewAsset {
	rng := rand.New(rand.NewPCG(uint64(i), 99))
	zipf := rand.NewZipf(rng, 1.2, 4, vocabulary-1)
	var text strings.Builder
	for range 6 + rng.IntN(12) {
		fmt.Fprintf(&text, "%s ", word(zipf.Uint64()))
	}
	for word, oneIn := range map[string]int{Mid: 100, Rare: 10_000} {
		if i%oneIn == oneIn/2 {
			text.WriteString(word + " ")
		}
	}
	if rng.IntN(100) < 67 {
		text.WriteString(Common)
	}
	author := rng.IntN(20_000)
	content, err := json.Marshal(map[string]any{
		"content":    "<p>" + text.String() + "</p>",
		"lang":       "en",
		"attachment": []any{map[string]any{"version": "1.0", "type": "photo", "url": map[string]string{"href": fmt.Sprintf("https://img.example.test/%d.jpg", i)}}},
		"attributedTo": map[string]any{"id": fmt.Sprint(author), "username": fmt.Sprintf("user%d", author), "displayName": fmt.Sprintf("User %d", author),
			"url": map[string]string{"href": fmt.Sprintf("https://example.test/%d", author)}},
		"socialnet": map[string]int{"retweets": rng.IntN(100), "favorites": rng.IntN(1000)},
	})
	if err != nil {
		panic(err) // strings and numbers only
	}
	via := int64(rng.IntN(3))
	return assets.NewAsset{
		ID: fmt.Sprint(int64(1_500_000_000_000_000_000) + int64(i)*4099), Generator: assets.Generator{ID: Generator(rng.IntN(4))}, Content: content,
		Folders: []string{folders[rng.IntN(len(folders))]}, SafeTags: []string{Tag(rng.IntN(50))}, Via: &via,
	}
}

// Generator returns the id of service n. Each post comes from one of the services 0 to 3.
func Generator(n int) string { return fmt.Sprintf("service%d.example", n) }

// Tag returns tag n. Each post has one of the tags 0 to 49.
func Tag(n int) string { return fmt.Sprintf("tag%d", n) }

// word spells a number in syllables, so that words have realistic lengths.
func word(n uint64) string {
	syllables := []string{"ba", "de", "fi", "go", "hu", "ka", "le", "mi", "no", "pu", "ra", "se", "ti", "vo", "xu", "zen"}
	var b strings.Builder
	for n += 16; n > 0; n /= 16 {
		b.WriteString(syllables[n%16])
	}
	return b.String()
}
