package convert

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// known has the names of columns for each field, the most specific first: those of well-known exports, and usual words
// in English, German, French, Spanish, Italian and Dutch, without articles. They are compared as simpleName returns
// them. Each export stands in testdata, with invented rows.
var known = map[string]string{
	"collection_id": "collection_id product_handle handle product_id commentpostid id_product product_sku sku " +
		"abstract_product_sku entity_pk_value externalid asin product_code item_id article_id book_id listing_id " +
		"hotel_id location_id page_id property_id property_code productidentifier package_name product_url " +
		"product_number artikelnummer artikel_nr produkt_nr produktid ref_produit id_produit reference " +
		"id_producto id_prodotto codice_prodotto productnummer reference_article id_article code_produit " +
		"code_article codigo_producto codigo_articulo id_articulo codice_articolo id_articolo riferimento " +
		"artikelcode produktnummer produktcode bestellnummer referencia reference_produit referencia_producto " +
		"product produkt artikel produit article producto articulo prodotto articolo listing hotel productname " +
		"product_title artikelname produktname produkttitel nom_produit nombre_producto nome_prodotto " +
		"productnaam hotel_name listing_name restaurant_name property_name location_name business_name " +
		"business_unit business_unit_identifying_name domain domain_url website_url",
	"collection_title": "collection_title product_title product_name item_name produktname artikelname produkttitel " +
		"artikelbezeichnung nom_produit titre_produit nombre_producto nome_prodotto productnaam property_name " +
		"hotel_name listing_name restaurant_name business_unit_display_name product produkt artikel produit " +
		"producto prodotto designation",
	"review_id": "review_id recommendationid commentid id_product_comment bewertungs_id bewertungs_nr " +
		"bewertungsnummer id_avis id_resena id_recensione beoordeling_id ugc_id id reviewidentifier identifiant " +
		"identificador uuid",
	"title": "review_title title headline review_headline summary subject titel uberschrift ueberschrift betreff " +
		"titre titre_avis titulo titolo kop onderwerp titre_commentaire titulo_resena titulo_opinion " +
		"titulo_comentario titolo_recensione titel_bewertung bewertungstitel rezensionstitel titel_beoordeling " +
		"titel_recensie reviewtitel asunto oggetto objet",
	"body": "body review_content review_text review_text_published reviewmessage review_body commentcontent content " +
		"product_comment reviewer_review my_review review message comment comments text detail description " +
		"review_comment service_comment rezensionstext texte_avis contenu_avis texto_resena texto_opinion " +
		"testo_recensione recensietekst reviewtekst tekst_beoordeling bewertungstext kommentar rezension " +
		"nachricht bewertung commentaire avis texte contenu message_avis comentario opinion resena texto commento " +
		"recensione testo recensie opmerking tekst beoordelingstekst beoordeling",
	"created": "review_created_utc date_reviewed timestamp_created create_time review_date review_creation_date " +
		"review_submit_date_and_time created_at date_created_gmt date_created created created_date date_published " +
		"submission_date date_submitted submission_time posted_at date_posted when commentdategmt commentdate " +
		"date_review date_add date_added date feedback_date submitted_at submitted_on submitted review_created " +
		"published_date timestamp time datum_bewertung rezensionsdatum bewertet_am abgegeben_am eingereicht_am " +
		"veroffentlicht_am date_avis date_commentaire date_publication date_ajout publie_le poste_le fecha_resena " +
		"fecha_opinion fecha_publicacion publicado_el data_recensione data_commento data_pubblicazione " +
		"data_inserimento pubblicato_il inserito_il beoordelingsdatum datum_beoordeling datum_recensie " +
		"plaatsingsdatum gepubliceerd_op ingediend_op date_rated datum bewertungsdatum erstellt_am erstellt " +
		"date_creation cree_le fecha fecha_creacion creado data data_creazione creato_il aangemaakt_op " +
		"geplaatst_op",
	"rating": "rating five_star_rating_published review_rating review_stars review_score my_rating stars score " +
		"star_rating product_rating review_rating_rating_value reviewer_product_rating overall_rating " +
		"service_rating grade rating_value percent bubbles sterne punkte wertung your_rating sternebewertung " +
		"anzahl_sterne nombre_etoiles numero_estrellas numero_stelle aantal_sterren rapportcijfer score_total " +
		"gesamtbewertung gesamtnote gesamtwertung bewertung note note_globale etoiles puntuacion valoracion " +
		"calificacion estrellas voto valutazione stelle punteggio sterren score_totaal beoordeling waardering " +
		"cijfer",
	"author_name": "author_name reviewer_name reviewer_display_name display_name user_nickname nickname " +
		"review_username consumer_display_name guest_name reviewer author commentauthor customer_name name " +
		"user_name user benutzername nutzername name_kunde nom_utilisateur utilisateur nombre_usuario nome_utente " +
		"nome_recensore gebruikersnaam naam_klant beoordelaar kundenname autor verfasser customer kunde nom " +
		"auteur nom_client client pseudo nombre nombre_cliente cliente usuario nome autore nome_cliente utente " +
		"naam klantnaam klant gebruiker",
	"author_email": "author_email reviewer_email customer_email email commentauthoremail user_email email_address " +
		"review_user_email mail e_mail_adresse courriel adresse_email correo correo_electronico indirizzo_email " +
		"emailadres mailadresse adresse_mail direccion_correo posta_elettronica",
	"author_url": "author_url commentauthorurl reviewer_url website",
	"parent_id":  "parent_id commentparent parent reply_to",
	"reply": "reply company_reply_text review_reply_comment property_reply review_reply shop_reply company_reply " +
		"merchant_reply comment_content developer_reply_text vendor_reply seller_reply seller_response " +
		"merchant_response answer client_response brand_response business_response developer_response " +
		"developer_reply vendor_response store_response shop_response host_response hotel_response admin_reply " +
		"antwort_shop handlerantwort reponse_marchand reponse_boutique respuesta_vendedor respuesta_tienda " +
		"risposta_venditore risposta_negozio antwoord_verkoper antwoord_winkel reactie_verkoper reactie_winkel " +
		"reply_text reply_body reply_content reply_message company_response store_reply owner_reply owner_answer " +
		"owner_response management_response response_text response antwort antwort_handlers antwort_haendlers " +
		"reponse_vendeur reponse respuesta risposta antwoord reactie",
	"reply_created": "reply_created review_reply_update_time reply_date replied_at reply_created_at " +
		"reply_date_created company_reply_date_utc company_reply_date company_reply_created_at comment_created_at " +
		"developer_reply_date_and_time response_date antwortdatum datum_antwort date_reponse fecha_respuesta " +
		"data_risposta answer_date response_at responded_at answered_at client_response_date brand_response_date " +
		"business_response_date developer_response_date developer_reply_date owner_response_date " +
		"management_response_date merchant_response_date seller_response_date beantwortet_am repondu_le " +
		"respondido_el risposto_il datum_antwoord datum_reactie antwoorddatum reactiedatum beantwoord_op",
	"reply_author": "reply_author reply_by replied_by replier responder",
}

// works are the columns of lists of books and films, whose titles, names and authors are not those of reviews.
var works = setOf("bookid isbn isbn13 isbnuid letterboxduri imdbid imdbrating tmdbid movieid filmid director " +
	"directors")

// hides matches names of columns that say whether a shop shows a row, and hiddenWords are what they say of others, both
// as simpleName returns them.
var (
	hides = regexp.MustCompile("^(is)?(enabled|active|curated|validate|validated|aktiv|statut|publie|estado|" +
		"publicado|stato|pubblicato|gepubliceerd|live|shown)$|spam|hidden|visib|deleted|removed|status|state$|approv|" +
		"moderat|^(is|un)?publish(ed)?(at|on)?$|sichtbar|freigegeben|geloscht|gepruft|zichtbaar|verborgen|verwijderd")
	hiddenWords = setOf("spam pending awaiting hold trash deleted removed hidden invisible rejected declined denied " +
		"unpublished unapproved notapproved notpublished notvisible disapproved moderation draft disabled inactive " +
		"blocked suspended flagged archived private ausstehend wartend gesperrt versteckt abgelehnt geloscht entwurf " +
		"unsichtbar deaktiviert nichtfreigegeben nichtveroffentlicht prufung enattente refuse rejete masque cache " +
		"supprime brouillon nonpublie nonvalide pendiente rechazado oculto eliminado borrador nopublicado inattesa " +
		"rifiutato nascosto eliminato bozza nonpubblicato wachtend afgewezen geweigerd verborgen verwijderd concept " +
		"behandeling nietgepubliceerd pendente rejeitado")
)

// guess returns a mapping by the names of the columns and by the sample. A column is used once. A field gets the first
// of its names whose cells are of its kind; one with empty cells only if there is no other.
func (t *table) guess() Mapping {
	m, simple, used, ofWorks := Mapping{}, map[string]int{}, map[int]bool{}, false
	if t.json != nil && t.rows != "" {
		m["rows"] = t.rows
	}
	for i, name := range t.header {
		key := simpleName(name)
		ofWorks = ofWorks || works[key]
		if other, twice := simple[key]; !twice {
			simple[key] = i
		} else if t.header[other] == name {
			used[i], used[other] = true, true // a mapping cannot distinguish two columns with one name
		}
	}
	for _, field := range append([]string{"rating", "body", "title"}, fields...) {
		best := -1
		names := known[field]
		if ofWorks && strings.HasPrefix(field, "collection_") {
			names += " title name"
		}
		for name := range strings.FieldsSeq(names) {
			name = simpleName(name)
			i, ok := simple[name]
			switch {
			case !ok || used[i] || m[field] != nil:
			case ofWorks && (field == "title" || field == "author_name") && slices.Contains(ownOfWorks, name):
			default:
				switch filled, fits := t.fits(field, i); {
				case filled && fits:
					m[field], used[i] = t.header[i], true
				case !filled && best < 0:
					best = i
				}
			}
		}
		if m[field] == nil && best >= 0 {
			m[field], used[best] = t.header[best], true
		}
	}
	good, praised := simple["positivereview"]
	bad, blamed := simple["negativereview"]
	if !praised || !blamed {
		good, praised = simple["pros"]
		bad, blamed = simple["cons"]
	}
	if !praised || !blamed {
		good, praised = simple["positive"]
		bad, blamed = simple["negative"]
	}
	if praised && blamed && m["body"] == nil {
		m["body"] = map[string]any{"columns": []any{t.header[good], t.header[bad]}, "join": "\n\n"}
	}
	t.wholeNames(m, simple)
	if rating, ok := m["rating"].(string); ok {
		for name := range strings.FieldsSeq(bestRatings) {
			if i, has := simple[simpleName(name)]; has && !used[i] && t.best(i) {
				m["rating"] = map[string]any{"column": rating, "scale": t.header[i]}
				break
			}
		}
	}
	name, named := simple["name"]
	year, dated := simple["year"]
	if ofWorks && named && dated && m["collection_id"] == t.header[name] { // films share names
		m["collection_id"] = map[string]any{"columns": []any{t.header[name], t.header[year]}, "join": " "}
	}
	return m
}

// bestRatings are the names of columns with the best rating that there is, in each row.
const bestRatings = "rating_range best_rating max_rating rating_max rating_scale rating_out_of max_score " +
	"review_rating_best_rating"

// best reports whether a column has what may be the best rating, in each row of the sample.
func (t *table) best(column int) bool {
	texts := t.texts(&value{columns: []int{column}, escaped: t.dump})
	return len(texts) > 0 && !slices.ContainsFunc(texts, func(text string) bool {
		best, err := parseNumber(text)
		return err != nil || !validScale(best) || best < 2
	})
}

// namePairs are the columns of the parts of a name.
var namePairs = [][2]string{{"firstname", "lastname"}, {"vorname", "nachname"}, {"prenom", "nom"},
	{"nombre", "apellidos"},
	{"nombre", "apellido"}, {"nome", "cognome"}, {"voornaam", "achternaam"}}

// wholeNames joins two columns with the parts of the names of authors, unless there is a column with names that pages
// have shown. simple has the columns by their names.
func (t *table) wholeNames(m Mapping, simple map[string]int) {
	for i, header := range t.header {
		for _, pair := range namePairs {
			of, first := strings.CutSuffix(simpleName(header), pair[0])
			j, both := simple[of+pair[1]]
			if now := m["author_name"]; first && both && (now == nil || now == header || now == t.header[j]) {
				m["author_name"] = map[string]any{"columns": []any{t.header[i], t.header[j]}, "join": " "}
			}
		}
	}
}

// ownOfWorks are the names of columns that belong to the works in a list of works.
var ownOfWorks = []string{"title", "name", "author"}

// fits reports whether most of the cells of a column that are not empty may be those of a field. filled is false if
// all of them are empty.
func (t *table) fits(field string, column int) (filled, fits bool) {
	texts := slices.DeleteFunc(t.texts(&value{columns: []int{column}, escaped: t.dump}), func(text string) bool {
		return text == ""
	})
	dates, n := newDateReader(texts, ""), 0
	for _, text := range texts {
		reason, form := "", formOf(text)
		switch field {
		case "rating":
			_, _, reason = readRating(text)
		case "created", "reply_created":
			if form != dateForm && form != numberForm { // impossible dates are rejected with a reason
				_, reason = dates.read(text)
			}
		case "author_email":
			if !strings.Contains(text, "@") {
				reason = "no address"
			}
		case "author_name", "title", "body", "reply", "reply_author":
			if form == numberForm || form == dateForm || form == addressForm {
				reason = "no text"
			}
		}
		if reason == "" {
			n++
		}
	}
	return len(texts) > 0, 2*n > len(texts)
}

// wrapper matches what systems put around all members of each row of JSON: GraphQL, JSON:API, GeoJSON, search engines.
var wrapper = regexp.MustCompile("^/(node|attributes|properties|fields|_source)/")

// articles are words that a name may have or lack.
var articles = setOf("de der des du d la l di del della dell van vom the of")

// simpleName returns the letters and digits of a name in lower case, without accents and articles.
func simpleName(name string) string {
	name = wrapper.ReplaceAllString(name, "")
	if above, ok := strings.CutPrefix(name, "../"); ok && !strings.HasPrefix(above, "product") {
		name = "product" + above // what stands above a list of reviews
	}
	all, rest := "", ""
	for word := range strings.FieldsFuncSeq(norm.NFD.String(name), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
	}) {
		word = strings.Map(func(r rune) rune {
			if unicode.IsMark(r) {
				return -1
			}
			return unicode.ToLower(r)
		}, word)
		if all += word; !articles[word] {
			rest += word
		}
	}
	return cmp.Or(rest, all)
}
