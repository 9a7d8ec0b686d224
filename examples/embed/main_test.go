package main

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// The link signs a person in: the page is there, and the API knows who asks. Without it nobody is known.
func TestTheLinkSignsIn(t *testing.T) {
	handler, link, err := newHandler()
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	defer server.Close()
	u, err := url.Parse(link)
	if err != nil {
		t.Fatal(err)
	}
	jar, _ := cookiejar.New(nil) // it cannot fail without options
	person := &http.Client{Jar: jar}
	ask := func(path, accept string) (int, string) {
		t.Helper()
		r, err := http.NewRequest(http.MethodGet, server.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", accept)
		answer, err := person.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, string(text)
	}
	if status, _ := ask("/x/me", "*/*"); status != http.StatusUnauthorized {
		t.Errorf("without a session: %d", status)
	}
	if status, text := ask(u.RequestURI(), "text/html"); status != http.StatusOK || !strings.Contains(text, "<title>Example</title>") {
		t.Errorf("the link leads to %d %s", status, text)
	}
	if status, text := ask("/x/me", "*/*"); status != http.StatusOK || !strings.Contains(text, "user=me") {
		t.Errorf("with a session: %d %s", status, text)
	}
	if status, text := ask("/apps", "*/*"); status != http.StatusOK || !strings.Contains(text, "Hello") {
		t.Errorf("the apps: %d %s", status, text)
	}
	if status, text := ask("/x/preview.html", "*/*"); status != http.StatusOK || !strings.Contains(text, "<vitrine-app>") {
		t.Errorf("the frame of previews: %d %s", status, text)
	}
}
