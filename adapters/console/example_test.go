package console_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/vitrine-go/vitrine/adapters/console"
)

// The page stands before the API, which is the handler of package httpapi: browsers get the page at its base path, and
// programs the API.
func Example() {
	api := http.NotFoundHandler()
	server := httptest.NewServer(console.Before(api, "/v4", console.New(console.Config{Title: "Example"})))
	defer server.Close()
	for _, accept := range []string{"text/html", "application/json"} {
		request, err := http.NewRequest(http.MethodGet, server.URL+"/v4/", nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		request.Header.Set("Accept", accept)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			fmt.Println(err)
			return
		}
		response.Body.Close()
		fmt.Println(accept, response.Status)
	}
	// Output:
	// text/html 200 OK
	// application/json 404 Not Found
}
