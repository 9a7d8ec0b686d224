package convert_test

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/reviews/convert"
)

// Exports of many systems, with invented rows, need no mapping, or lack only what they do not have. Each has a row that
// its shop has hidden, if it has a column for that, and a note names that column.
func TestGuessOfExports(t *testing.T) {
	want := map[string]struct {
		mapping convert.Mapping
		hides   []string
	}{
		"yotpo": {convert.Mapping{"collection_id": "product_id", "collection_title": "product_title",
			"review_id": "review_id", "title": "review_title", "body": "review_content", "created": "date",
			"rating": "review_score", "author_name": "display_name", "author_email": "email",
			"reply": "comment_content", "reply_created": "comment_created_at"}, []string{"review_status", "published"}},
		"judgeme": {convert.Mapping{"collection_id": "product_handle", "title": "title", "body": "body",
			"created": "review_date", "rating": "rating", "author_name": "reviewer_name",
			"author_email": "reviewer_email", "reply": "reply", "reply_created": "reply_date"}, []string{"curated"}},
		"loox": {convert.Mapping{"collection_id": "product_handle", "review_id": "id", "body": "body",
			"created": "created_at", "rating": "rating", "author_name": "author", "author_email": "email",
			"reply": "reply", "reply_created": "replied_at"}, []string{"status"}},
		"okendo": {convert.Mapping{"collection_id": "handle", "collection_title": "productName",
			"review_id": "reviewId", "title": "title", "body": "body", "created": "dateCreated", "rating": "rating",
			"author_name": "name", "author_email": "email", "reply": "reply", "reply_created": "replyDate"},
			[]string{"status"}},
		"woocommerce": {convert.Mapping{"collection_id": "comment_post_ID", "collection_title": "product_title",
			"review_id": "comment_ID", "body": "comment_content", "created": "comment_date_gmt", "rating": "rating",
			"author_name": "comment_author", "author_email": "comment_author_email", "author_url": "comment_author_url",
			"parent_id": "comment_parent"}, []string{"comment_approved"}},
		"magento": {convert.Mapping{"collection_id": "sku", "review_id": "review_id", "title": "title",
			"body": "detail", "created": "created_at", "rating": "percent", "author_name": "nickname"},
			[]string{"status_id"}},
		"prestashop": {convert.Mapping{"collection_id": "id_product", "review_id": "id_product_comment",
			"title": "title", "body": "content", "created": "date_add", "rating": "grade",
			"author_name": "customer_name"}, []string{"validate", "deleted"}},
		"opencart": {convert.Mapping{"collection_id": "product_id", "review_id": "review_id", "body": "text",
			"created": "date_added", "rating": "rating", "author_name": "author"}, []string{"status"}},
		"spryker": {convert.Mapping{"collection_id": "abstract_product_sku", "title": "summary",
			"body": "description", "rating": "rating", "author_name": "nickname"}, []string{"status"}},
		"trustpilot": {convert.Mapping{"collection_id": "Domain Url", "review_id": "Review Id",
			"title": "Review Title", "body": "Review Content", "created": "Review Created (UTC)",
			"rating": "Review Stars", "author_name": "Review Username", "reply": "Company Reply",
			"reply_created": "Company Reply Date (UTC)"}, []string{"Review Status"}},
		"play": {convert.Mapping{"collection_id": "Package Name", "title": "Review Title", "body": "Review Text",
			"created": "Review Submit Date and Time", "rating": "Star Rating", "reply": "Developer Reply Text",
			"reply_created": "Developer Reply Date and Time"}, []string{}},
		"goodreads": {convert.Mapping{"collection_id": "Book Id", "collection_title": "Title", "body": "My Review",
			"created": "Date Added", "rating": "My Rating"}, []string{}},
		"letterboxd": {convert.Mapping{"collection_id": map[string]any{"columns": []any{"Name", "Year"}, "join": " "},
			"body": "Review", "created": "Date", "rating": "Rating"}, []string{}},
		"tripadvisor": {convert.Mapping{"collection_id": "Hotel ID", "collection_title": "Hotel Name",
			"review_id": "Review ID", "title": "Review Title", "body": "Review Text", "created": "Review Date",
			"rating": "Rating", "author_name": "Username", "reply": "Management Response",
			"reply_created": "Response Date"}, []string{}},
		"airbnb": {convert.Mapping{"collection_id": "listing_id", "review_id": "id", "body": "comments",
			"created": "date", "author_name": "reviewer_name"}, []string{}},
		"german": {convert.Mapping{"collection_id": "Artikelnummer", "collection_title": "Artikelbezeichnung",
			"author_name": "Kundenname", "author_email": "E-Mail-Adresse", "title": "Überschrift", "body": "Bewertung",
			"rating": "Sterne", "created": "Erstellt am", "reply": "Antwort"}, []string{"Freigegeben"}},
		"french": {convert.Mapping{"collection_id": "Référence", "collection_title": "Nom du produit",
			"author_name": "Pseudo", "author_email": "Courriel", "title": "Titre de l'avis", "body": "Avis",
			"rating": "Note", "created": "Date de l'avis", "reply": "Réponse"}, []string{"Statut"}},
		"spanish": {convert.Mapping{"collection_id": "ID producto", "collection_title": "Producto",
			"author_name": "Nombre", "author_email": "Correo electrónico", "title": "Título", "body": "Comentario",
			"rating": "Puntuación", "created": "Fecha", "reply": "Respuesta"}, []string{"Estado"}},
		"italian": {convert.Mapping{"collection_id": "Codice prodotto", "collection_title": "Prodotto",
			"author_name": "Nome", "author_email": "Indirizzo email", "title": "Titolo", "body": "Recensione",
			"rating": "Voto", "created": "Data", "reply": "Risposta"}, []string{"Stato"}},
		"dutch": {convert.Mapping{"collection_id": "Artikelnr", "collection_title": "Productnaam",
			"author_name": "Naam", "author_email": "E-mail", "title": "Titel", "body": "Beoordeling",
			"rating": "Sterren", "created": "Geplaatst op", "reply": "Reactie"}, []string{"Status"}},
	}
	files, err := filepath.Glob("testdata/*.csv")
	if err != nil || len(files) != len(want) {
		t.Errorf("%d files, %v, want %d", len(files), err, len(want))
	}
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".csv")
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		s, err := convert.Look(bytes.NewReader(file), "")
		if err != nil || !reflect.DeepEqual(s.Mapping, want[name].mapping) {
			t.Errorf("%s: %v, %v\nwant %v", name, s.Mapping, err, want[name].mapping)
		}
		var hides []string
		for _, note := range s.Notes {
			if column, _, found := strings.Cut(note, " is not used, and may say"); found {
				hides = append(hides, strings.Trim(column, `"`))
			}
		}
		if !slices.Equal(hides, want[name].hides) && len(hides)+len(want[name].hides) > 0 {
			t.Errorf("%s: %q are said to hide rows, want %q", name, hides, want[name].hides)
		}
		if len(s.Mapping.Missing()) > 0 {
			continue
		}
		var out bytes.Buffer
		result, err := convert.Convert(t.Context(), convert.Request{File: bytes.NewReader(file), To: &out})
		if err != nil || result.Converted != 2 || result.RejectedTotal != 0 {
			t.Errorf("%s: %+v, %v", name, result, err)
		}
	}
}

// A column is not taken for what its cells are not, however it is called, and what looks wrong is noted.
func TestGuessLooksAtCells(t *testing.T) {
	const ids = "product,reviewer,"
	for file, want := range map[string]convert.Mapping{
		ids + "reply_date,stars\nx,Ann,2023-01-02,5\n": {"reply_created": "reply_date", "rating": "stars"},
		ids + "score,rating\nx,Ann,4,Good\n":           {"rating": "score"},
		ids + "rating\nx,Ann,Good\n":                   {},
		ids + "time,when\nx,Ann,14:05,2 Jan 2023\n":    {"created": "when"},
		ids + "comments,text\nx,Ann,3,So so\n":         {"body": "text"},
		ids + "comments\nx,Ann,3\n":                    {},
		ids + "title,headline\nx,Ann,,Fine\n":          {"title": "headline"},
		"product,customer,user\nx,4711,Ann\n":          {"author_name": "user"},
		"product,customer\nx,4711\n":                   {},
		"isbn,author,title,review\n1,Ann,Dune,So so\n": {"collection_id": "title", "body": "review"},
	} {
		want["collection_id"] = "product"
		if strings.HasPrefix(file, "isbn") {
			want["collection_id"] = "title"
		}
		if strings.HasPrefix(file, ids) {
			want["author_name"] = "reviewer"
		}
		if s, err := convert.Look(strings.NewReader(file), ""); err != nil || !reflect.DeepEqual(s.Mapping, want) {
			t.Errorf("%q: %v, %v, want %v", file, s.Mapping, err, want)
		}
	}
	file := "product,rating,author,date,body,kind\n" + strings.Repeat("x,5,Ann,2023-01-02,Good,live\n", 20) +
		"x,5,Ben,2023-01-03,So so,Pending\n"
	s, err := convert.Look(strings.NewReader(file+"x,5,Cy,2023-01-04,Bad,Pending\n"), "")
	for _, note := range []string{`most rows have "2023-01-02" in column "date"`,
		`most rows have "Ann" in column "author"`,
		`most rows have "Good" in column "body"`,
		`"kind" is not used, and may say which rows the shop has hidden ("live", ` +
			`"Pending")`} {
		if err != nil || !strings.Contains(strings.Join(s.Notes, "\n"), note) {
			t.Errorf("%q, %v, want %s", s.Notes, err, note)
		}
	}
}
