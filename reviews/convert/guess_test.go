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
		"name,director,review\nAlien,Ann,So so\n":      {"collection_id": "name", "body": "review"},
		"product,author,reviewer\nx,Ann,Ben\n":         {"author_name": "reviewer"},
		"product name,product\nDesk lamp,lamp\n": {"collection_id": "product",
			"collection_title": "product name"},
	} {
		if want["collection_id"] == nil {
			want["collection_id"] = "product"
		}
		if strings.HasPrefix(file, ids) {
			want["author_name"] = "reviewer"
		}
		if s, err := convert.Look(strings.NewReader(file), ""); err != nil || !reflect.DeepEqual(s.Mapping, want) {
			t.Errorf("%q: %v, %v, want %v", file, s.Mapping, err, want)
		}
	}
	// Rows that a shop has hidden are noted, however the column and its words are called.
	for _, column := range []string{"verdict,pending review", "judgement,Spam", "Situação,Pendente", "Zichtbaar,nee",
		"Prüfstand,nicht freigegeben", "is_removed,0", "deleted_at,2023-01-02", "/flags/hidden,true"} {
		name, cell, _ := strings.Cut(column, ",")
		s, err := convert.Look(strings.NewReader("product,"+name+"\nx,"+cell+"\n"), "")
		if err != nil || !strings.Contains(strings.Join(s.Notes, "\n"), "may say which rows the shop has hidden") {
			t.Errorf("%s: %v, %v", column, s.Notes, err)
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

// Further exports, as their systems write them: what is guessed, and what is missing since they do not have it.
func TestGuessOfFurtherExports(t *testing.T) {
	for name, c := range map[string]struct {
		file    string
		mapping convert.Mapping
		missing []string
		rating  string // of the first row; "" if it is not converted
	}{
		"Etsy": {`[{"reviewer":"Ann","date_reviewed":"05/21/2023","star_rating":5,"message":"Nice","order_id":2912}]`,
			convert.Mapping{"author_name": "/reviewer", "created": "/date_reviewed", "rating": "/star_rating",
				"body": "/message"}, []string{"collection_id"}, "[100]"},
		"Google": {`{"reviews":[{"reviewer":{"displayName":"Ann"},"starRating":"FOUR","comment":"Great",` +
			`"createTime":"2021-05-04T10:11:12.345678Z","updateTime":"2021-05-04T10:11:12.345678Z",` +
			`"reviewReply":{"comment":"Thanks","updateTime":"2021-05-05T10:11:12Z"},"name":"accounts/1/reviews/Ab"}]}`,
			convert.Mapping{"author_name": "/reviewer/displayName", "created": "/createTime", "rating": "/starRating",
				"body": "/comment", "reply": "/reviewReply/comment", "reply_created": "/reviewReply/updateTime",
				"rows": "/reviews"}, []string{"collection_id"}, "[80]"},
		"Maps": {`{"type":"FeatureCollection","features":[{"geometry":{"type":"Point"},"properties":{` +
			`"date":"2023-01-02T03:04:05Z","five_star_rating_published":4,"location":{"name":"Cafe One"},` +
			`"review_text_published":"Nice"},"type":"Feature"}]}`,
			convert.Mapping{"collection_id": "/properties/location/name", "created": "/properties/date",
				"rating": "/properties/five_star_rating_published", "body": "/properties/review_text_published",
				"rows": "/features"}, []string{"author_name"}, "[80]"},
		"Steam": {`{"success":1,"reviews":[{"recommendationid":"138","author":{"steamid":"7656"},"review":"Good",` +
			`"timestamp_created":1684662000,"voted_up":true}]}`,
			convert.Mapping{"review_id": "/recommendationid", "created": "/timestamp_created", "body": "/review",
				"rows": "/reviews"}, []string{"collection_id", "rating", "author_name"}, ""},
		"Amazon": {"asin,title,author_name,rating,content,timestamp\n" +
			"B01,Great,Ann,4.0 out of 5 stars,Boils,\"Reviewed in the United States on May 21, 2023\"\n",
			convert.Mapping{"collection_id": "asin", "title": "title", "author_name": "author_name", "rating": "rating",
				"body": "content", "created": "timestamp"}, nil, "[80]"},
		"Booking": {
			"Review date,Guest name,Review title,Positive review,Negative review,Review score,Property reply\n" +
				"2023-05-21 10:11:12,Ann,Good,Staff,Noise,8,Thanks\n2023-05-22 10:11:12,Bob,Good,Staff,,10,\n",
			convert.Mapping{"created": "Review date", "author_name": "Guest name", "title": "Review title",
				"body":   map[string]any{"columns": []any{"Positive review", "Negative review"}, "join": "\n\n"},
				"rating": "Review score", "reply": "Property reply"}, []string{"collection_id"}, "[80]"},
		"PowerReviews": {"page_id|product_name|ugc_id|headline|overall_rating|comments|nickname|" +
			"merchant_response|created_date\np1|Lamp|501|Fine|4|Bright|Ann|Thanks|1/23/2020\n",
			convert.Mapping{"collection_id": "page_id", "collection_title": "product_name", "review_id": "ugc_id",
				"created": "created_date", "title": "headline", "rating": "overall_rating", "body": "comments",
				"author_name": "nickname", "reply": "merchant_response"}, nil, "[80]"},
		"a German shop": {"Artikelnummer;Artikelname;Gesamtbewertung;Kommentar;Vorname;Nachname;" +
			"Antwort des Händlers;Datum der Antwort;Bewertungsdatum\n" +
			"L-1;Lampe;4,5;Hell;Ann;Lee;Danke;15.03.2021;14.03.2021\n",
			convert.Mapping{"collection_id": "Artikelnummer", "collection_title": "Artikelname",
				"created": "Bewertungsdatum", "rating": "Gesamtbewertung", "body": "Kommentar",
				"author_name": map[string]any{"columns": []any{"Vorname", "Nachname"}, "join": " "},
				"reply":       "Antwort des Händlers", "reply_created": "Datum der Antwort"}, nil, "[90]"},
		"a French shop": {"Identifiant\tNote\tAvis\tPrénom\tNom\tDate de création\tProduit\tRéférence produit\t" +
			"Date de réponse\n7\t4/5\tClair\tAnn\tLee\t14 mars 2021\tLampe\tL-1\t\n",
			convert.Mapping{"collection_id": "Référence produit", "collection_title": "Produit",
				"review_id": "Identifiant", "rating": "Note", "body": "Avis", "created": "Date de création",
				"author_name":   map[string]any{"columns": []any{"Prénom", "Nom"}, "join": " "},
				"reply_created": "Date de réponse"}, nil, "[80]"},
		"a Dutch shop": {"Productcode;Naam klant;Waardering;Datum van de beoordeling;Antwoord van de winkel\n" +
			"L-1;Ann;4;14-03-2021;Dank\n",
			convert.Mapping{"collection_id": "Productcode", "author_name": "Naam klant", "rating": "Waardering",
				"created": "Datum van de beoordeling", "reply": "Antwoord van de winkel"}, nil, "[80]"},
		"a Spanish shop": {"Código del producto,Nombre del producto,Nombre de usuario,Estrellas,Fecha de la reseña," +
			"Título de la reseña\nL-1,Taza,Ann,4,14/03/2021,Bien\n",
			convert.Mapping{"collection_id": "Código del producto", "collection_title": "Nombre del producto",
				"author_name": "Nombre de usuario", "rating": "Estrellas", "created": "Fecha de la reseña",
				"title": "Título de la reseña"}, nil, "[80]"},
		"an Italian shop": {"Codice articolo,Nome utente,Voto,Data recensione,Risposta del venditore\n" +
			"L-1,Ann,4,14/03/2021,Si\n",
			convert.Mapping{"collection_id": "Codice articolo", "author_name": "Nome utente", "rating": "Voto",
				"created": "Data recensione", "reply": "Risposta del venditore"}, nil, "[80]"},
		"hotels": {`[{"property":{"code":"h1","name":"Sea"},"guest":{"firstName":"Ann","lastName":"Lee"},` +
			`"rating":4,"positive":"View","negative":"Noise","submitted":"2018-03-14"}]`,
			convert.Mapping{"collection_id": "/property/code", "collection_title": "/property/name",
				"author_name": map[string]any{"columns": []any{"/guest/firstName", "/guest/lastName"}, "join": " "},
				"rating":      "/rating", "created": "/submitted",
				"body": map[string]any{"columns": []any{"/positive", "/negative"}, "join": "\n\n"}}, nil, "[80]"},
	} {
		sight, err := convert.Look(strings.NewReader(c.file), "")
		if err != nil || !reflect.DeepEqual(sight.Mapping, c.mapping) ||
			!slices.Equal(sight.Mapping.Missing(), c.missing) {
			t.Errorf("%s: %v, missing %v, %v", name, sight.Mapping, sight.Mapping.Missing(), err)
			continue
		}
		if c.rating == "" {
			continue
		}
		for _, field := range c.missing { // they are of one thing, or of one person
			sight.Mapping[field] = "=one"
		}
		var out bytes.Buffer
		result, err := convert.Convert(t.Context(),
			convert.Request{File: strings.NewReader(c.file), To: &out, Mapping: sight.Mapping})
		if err != nil || result.RejectedTotal > 0 || !strings.Contains(out.String(), `"ratings":`+c.rating) {
			t.Errorf("%s: %+v, %v, %s", name, result, err, out.String())
		}
		// Cut short, nothing of it is lost in silence.
		result, err = convert.Convert(t.Context(), convert.Request{File: strings.NewReader(c.file[:len(c.file)-7]),
			To: &out, Mapping: sight.Mapping})
		if err == nil && result.RejectedTotal == 0 {
			t.Errorf("%s, cut: %+v", name, result)
		}
	}
}
