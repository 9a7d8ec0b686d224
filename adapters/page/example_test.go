package page_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/vitrine-go/vitrine/adapters/page"
)

// The script stands before the API, which is the handler of package httpapi.
func Example() {
	api := http.NotFoundHandler()
	server := httptest.NewServer(page.Before(api, "/"))
	defer server.Close()
	response, err := http.Get(server.URL + "/x/vitrine.js")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer response.Body.Close()
	fmt.Println(response.Status, response.Header.Get("Content-Type"))
	// Output: 200 OK text/javascript; charset=utf-8
}
