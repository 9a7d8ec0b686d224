// A search engine made of Bleve. Its arguments are a directory for the index and a file with the terms of the posts: a
// line each, the first letter of a term is its kind. For each line of the standard input (a term, then the kinds whose
// terms are counted) it finds the newest 50 and prints the total and the count of the most frequent term of each kind.
package main

import (
	"bufio"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis/analyzer/keyword"
)

func main() {
	mapping := bleve.NewIndexMapping()
	mapping.DefaultAnalyzer = keyword.Name
	mapping.StoreDynamic = false
	index, err := bleve.New(os.Args[1], mapping)
	check(err)
	posts, err := os.Open(os.Args[2])
	check(err)
	lines := bufio.NewScanner(posts)
	lines.Buffer(nil, 1<<20)
	batch, n := index.NewBatch(), 0
	for ; lines.Scan(); n++ {
		post := map[string][]string{}
		for _, term := range strings.Split(lines.Text(), "\t") {
			post[term[:1]] = append(post[term[:1]], term[1:])
		}
		check(batch.Index(fmt.Sprintf("%010d", n), post))
		if batch.Size() == 1000 {
			check(index.Batch(batch))
			batch.Reset()
		}
	}
	check(lines.Err())
	check(index.Batch(batch))
	fmt.Println(n)
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		words := strings.Fields(in.Text())
		query := bleve.NewTermQuery(words[0][1:])
		query.SetField(words[0][:1])
		search := bleve.NewSearchRequestOptions(query, 50, 0, false)
		search.SortBy([]string{"-_id"})
		for _, kind := range words[1:] {
			search.AddFacet(kind, bleve.NewFacetRequest(kind, 20))
		}
		found, err := index.Search(search)
		check(err)
		fmt.Print(found.Total)
		for _, kind := range words[1:] {
			fmt.Print(" ", found.Facets[kind].Terms.Terms()[0].Count)
		}
		fmt.Println()
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
