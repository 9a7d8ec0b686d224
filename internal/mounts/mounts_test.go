package mounts

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/storage/memory"
)

const network = "urn:vitrine:example.test"

func TestAddressesInResponses(t *testing.T) {
	for _, way := range []struct {
		name         string
		base, assets string // of the Config
		mount        func(api http.Handler) http.Handler
	}{
		{"alone", "/shop/v4", "/shop/v4/assets", func(api http.Handler) http.Handler { return api }},
		{"StripPrefix", "", "/assets", func(api http.Handler) http.Handler {
			return http.StripPrefix("/shop/v4", api)
		}},
		{"StripPrefix and a base path", "/v4", "/v4/assets", func(api http.Handler) http.Handler {
			return http.StripPrefix("/shop", api)
		}},
		{"a pattern of ServeMux", "/shop/v4", "/shop/v4/assets", func(api http.Handler) http.Handler {
			mux := http.NewServeMux()
			mux.Handle("/shop/", api)
			return mux
		}},
		{"StripPrefix in a ServeMux", "", "/assets", func(api http.Handler) http.Handler {
			mux := http.NewServeMux()
			mux.Handle("/shop/v4/", http.StripPrefix("/shop/v4", api))
			return mux
		}},
		{"chi", "/shop/v4", "/shop/v4/assets", func(api http.Handler) http.Handler {
			r := chi.NewRouter()
			r.Mount("/shop", api)
			return r
		}},
		{"chi in chi", "/shop/v4", "/shop/v4/assets", func(api http.Handler) http.Handler {
			r := chi.NewRouter()
			r.Route("/shop", func(r chi.Router) { r.Mount("/v4", api) })
			return r
		}},
		{"StripPrefix in chi", "", "/assets", func(api http.Handler) http.Handler {
			r := chi.NewRouter()
			r.Mount("/shop/v4", http.StripPrefix("/shop/v4", api))
			return r
		}},
	} {
		t.Run(way.name, func(t *testing.T) {
			db := memory.New()
			api, err := httpapi.New(httpapi.Config{Apps: appsvc.New(db, nil),
				Assets:   assets.New(db, &assets.Options{BasePath: "/shop/v4"}),
				BasePath: way.base, AssetPrefix: way.assets,
				Authenticate: func(r *http.Request) (httpapi.Principal, error) {
					_, err := httpapi.RequestToken(r)
					return httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=me",
						Moderates: []string{network}, Components: true}}, err
				}})
			if err != nil {
				t.Fatal(err)
			}
			server := httptest.NewServer(way.mount(api))
			defer server.Close()
			base := server.URL + "/shop/v4"
			ask := func(method, url, body string, status int) (http.Header, string) {
				t.Helper()
				r, err := http.NewRequest(method, url, strings.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				r.Header.Set("Authorization", "Bearer x")
				r.Header.Set("Content-Type", "application/json")
				answer, err := http.DefaultTransport.RoundTrip(r) // which follows no redirect
				if err != nil {
					t.Fatal(err)
				}
				defer answer.Body.Close()
				text, _ := io.ReadAll(answer.Body)
				if answer.StatusCode != status {
					t.Fatalf("%s %s: %d %s", method, url, answer.StatusCode, text)
				}
				return answer.Header, string(text)
			}
			for range 3 {
				header, text := ask("POST", base+"/apps", `{"title":"x","groups":["`+network+`"]}`, 201)
				var made struct{ ID, URL string }
				if err := json.Unmarshal([]byte(text), &made); err != nil || made.URL != base+"/apps/"+made.ID ||
					header.Get("Location") != made.URL {
					t.Errorf("Location %q, %s", header.Get("Location"), text)
				}
				ask("GET", made.URL, "", 200)
			}
			for url, pages := base+"/apps/?limit=1", 0; url != ""; pages++ {
				header, _ := ask("GET", url, "", 200)
				next, _, _ := strings.Cut(strings.TrimPrefix(header.Get("Link"), "<"), ">")
				if next != "" && !strings.HasPrefix(next, base+"/apps/?") || pages > 2 {
					t.Fatalf("page %d leads to %s", pages, next)
				}
				url = next
			}
			ask("POST", base+"/components", `{"name":"@scope/c","version":"1","main":"/c.js","configSchema":{}}`, 201)
			ask("GET", base+"/components/%40scope%2Fc", "", 200)
			ask("POST", base+"/assets/example.test/assetLibrary/example.test/assets",
				`{"add":[{"id":"1","generator":{"id":"g"},"content":{"content":"x"}}]}`, 200)
			_, text := ask("POST", base+"/assets/example.test/assetLibrary/example.test/files?name=a.pdf",
				"%PDF-1.7\n", 200)
			_, file, _ := strings.Cut(text, `"href":"`)
			file, _, _ = strings.Cut(file, `"`)
			ask("GET", server.URL+file, "", 200)
			_, text = ask("GET", base+"/assets/example.test/assetLibrary/example.test/assets?query=x", "", 200)
			if !strings.Contains(text, `"total":1`) {
				t.Error(text)
			}
			if way.name == "alone" {
				ask("GET", base+"/assets//example.test/assetLibrary/example.test/assets", "", 200)
				ask("GET", server.URL+
					"/services/frontline/api/v4/assetManager//example.test/assetLibrary/example.test/assets", "", 404)
			}
			_, description := ask("GET", base+"/openapi.json", "", 200)
			if !strings.Contains(description, `"`+way.assets+`/{network}/assetLibrary/{library}/assets"`) {
				t.Error("the description does not have the asset manager where it is")
			}
			if _, page := ask("GET", base+"/cors.html", "", 200); !strings.Contains(page, `"`+way.assets+`/"`) {
				t.Error("cors.html does not know the asset manager")
			}
		})
	}
}
