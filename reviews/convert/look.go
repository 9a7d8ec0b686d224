package convert

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
)

// Sight is the result of Look. The HTTP API returns its JSON.
type Sight struct {
	Charset   string     `json:"charset"`   // "utf-8", "utf-16" or "windows-1252"
	Separator string     `json:"separator"` // of cells: one of , ; | and a tab
	Columns   []string   `json:"columns"`
	Rows      [][]string `json:"rows"`    // the first five
	Mapping   Mapping    `json:"mapping"` // guessed from the names of the columns; a field without a column is left out
	// 5, 10 or 100: the lowest that nearly all ratings at the beginning of the file do not exceed
	Scale float64  `json:"scale"`
	Dates string   `json:"dates"` // "dmy" or "mdy" if the dates show it, and otherwise ""
	Notes []string `json:"notes,omitempty"`
}

// Look reads the beginning of a file, 256 KiB at most, and guesses how to convert it. It returns ErrInvalid if the file
// is not a table.
func Look(file io.Reader) (Sight, error) {
	t, err := openTable(file)
	if err != nil {
		return Sight{}, err
	}
	s := Sight{Charset: t.charset, Separator: string(t.scan.comma), Columns: t.header, Rows: [][]string{},
		Mapping: guess(t.header), Scale: 5}
	p, err := newPlan(s.Mapping, t.header)
	if err != nil {
		return Sight{}, err
	}
	s.Notes = append(t.setScales(p, 0), t.notes(p)...)
	s.Rows = append(s.Rows, t.sample[:min(len(t.sample), 5)]...)
	s.Dates = newDateReader(t.texts(p.at["created"]), "").order
	if len(p.ratings) > 0 {
		s.Scale = p.ratings[0].scale
	}
	return s, nil
}

// setScales sets the scale of each rating that has none. If scale is 0, it is guessed, and a note says so.
func (t *table) setScales(p *plan, scale float64) (notes []string) {
	for _, r := range p.ratings {
		for v := r.value; v != nil; v = v.next {
			if v.scale = cmp.Or(v.scale, scale); v.scale != 0 {
				continue
			}
			alone, found := *v, false
			alone.next = nil
			if v.scale, found = guessScale(t.texts(&alone)); found {
				notes = append(notes, fmt.Sprintf("scale: %v, guessed from the first ratings; give another if that "+
					"is wrong", v.scale))
			}
			v.guessed = true
		}
	}
	return slices.Compact(notes)
}

// texts returns the texts of a value in the sample.
func (t *table) texts(v *value) (texts []string) {
	for _, row := range t.sample {
		if v != nil && len(row) == len(t.header) {
			text, _ := v.read(row)
			texts = append(texts, text)
		}
	}
	return texts
}

// hiding are names of columns that say whether a shop shows a row, as simpleName returns them.
var hiding = setOf("state status curated published approved commentapproved hidden spam isspam visible visibility " +
	"deleted reviewstate reviewstatus moderationstatus")

// notes returns notes about the columns that a plan does not use.
func (t *table) notes(p *plan) (notes []string) {
	var unused, warnings []string
	for _, name := range t.header {
		if p.used[name] || name == "" || name == lineColumn || name == reasonColumn {
			continue
		}
		unused = append(unused, name)
		if hiding[simpleName(name)] {
			warnings = append(warnings,
				fmt.Sprintf("%q is not used, and may say which rows the shop has hidden: all are converted, so take "+
					"these out first", name))
		}
	}
	if t.quotes != "" {
		notes = append(notes, t.quotes)
	}
	if len(unused) > 0 {
		notes = append(notes, "unused columns: "+quoted(unused))
	}
	return append(notes, warnings...)
}

// known has the column names of common exports, for each field the most specific first. They are compared without case,
// and only by letters and digits.
//
//	Judge.me                 title, body, rating, review_date, reviewer_name, reviewer_email, product_id,
//	                         product_handle, reply
//	                         (its template for imports, as programs that write it have it)
//	Shopify Product Reviews  product_handle, rating, title, author, email, body, created_at, reply (its export,
//	                         likewise)
//	Okendo                   name, body, handle, productId, rating, sku, dateCreated, email, title
//	Loox                     product_handle, product_id, rating, author, email, body, created_at (its export, as
//	                         programs that read it have it)
//	Yotpo                    Review Title, Review Content, Review Score, Review Date, Reviewer Name, Product ID,
//	                         Product Title
//	                         (apidocs.yotpo.com/reference/create-review has the same names with underscores)
//	Stamped                  productId, productTitle, author, email, reviewRating, reviewTitle, reviewMessage,
//	                         reviewDate
//	Trustpilot               Review Id, Review Created (UTC), Review Username, Review Title, Review Content, Review
//	                         Stars, Product Name
//	                         (its export, as programs that read it have it)
//	WooCommerce              comment_ID, comment_post_ID, comment_author, comment_author_email, comment_author_url,
//	                         comment_date,
//	                         comment_content, comment_parent, rating (columns of WordPress); product_id,
//	                         product_name, reviewer,
//	                         reviewer_email, review, rating, date_created
//	                         (woocommerce.github.io/woocommerce-rest-api-docs, product reviews)
//	Bazaarvoice              ProductID, ReviewID, ReviewText, Rating, SubmissionTime, UserNickname, Title
//	                         (knowledge.bazaarvoice.com/wp-content/conversations/en_US/Display/content_exports.html)
//	Facebook                 reviewID, rating, title, content, created_at, reviewer.name, product.name
//	                         (developers.facebook.com/docs/commerce-platform/platforms/feed-schema-csv)
//	Feefo                    Name, Email, Feedback Date, Product Id, Product Rating, Product Comment
//	                         (help.feefo.com/knowledge-base/importing-service-reviews)
//	Shopper Approved         Review Date, Reviewer Name, Product ID, Reviewer Product Rating, Reviewer Review
//	                         (help.shopperapproved.com/en/articles/2842491-content-license-agreement-overview)
//	German shops             Bewertungs-ID, Artikelname, Produkttitel, Kundenname, Autor, Überschrift, Kommentar,
//	                         Erstellt am, and the like
//	                         (translations of the names above, of no one product)
//	Magento                  sku, nickname, summary, text
//	                         (adobedocs.github.io/commerce-webapi/graphql/schema/products/mutations/create-review)
var known = map[string]string{
	"collection_id": "collection_id product_handle handle product_id commentpostid product_sku sku externalid " +
		"product_code item_id article_id productidentifier " +
		"product_url product_number artikelnummer produktid productname artikelname produkttitel producttitle product",
	"collection_title": "collection_title product_title product_name item_name produktname artikelname produkttitel " +
		"product",
	"review_id": "review_id commentid id reviewidentifier uuid bewertungs-id",
	"title":     "review_title title headline review_headline summary subject titel überschrift",
	"body": "body review_content review_text reviewmessage review_body commentcontent content product_comment " +
		"reviewer_review review message comment text " +
		"review_comment service_comment bewertungstext kommentar",
	"created": "review_created_utc review_date created_at date_created created submission_time when commentdategmt " +
		"commentdate reviewdate date feedback_date " +
		"submitted_at review_created timestamp time datum erstellt-am",
	"rating": "rating review_rating review_stars review_score stars score star_rating product_rating " +
		"reviewer_product_rating overall_rating service_rating bewertung sterne",
	"author_name": "author_name reviewer_name display_name user_nickname nickname review_username author " +
		"commentauthor reviewer customer_name name user_name username kundenname autor customer kunde",
	"author_email": "author_email reviewer_email customer_email email commentauthoremail user_email email_address " +
		"review_user_email",
	"author_url": "author_url commentauthorurl reviewer_url website",
	"parent_id":  "parent_id commentparent parent reply_to",
	"reply":      "reply review_reply shop_reply company_reply merchant_reply",
}

// guess returns a mapping by the names of the columns. A column is used once: if two fields match it, the first one
// gets it.
func guess(header []string) Mapping {
	m, simple, used := Mapping{}, map[string]int{}, map[int]bool{}
	for i, name := range header {
		if other, twice := simple[simpleName(name)]; !twice {
			simple[simpleName(name)] = i
		} else if header[other] == name {
			used[i], used[other] = true, true // a mapping cannot distinguish two columns with one name
		}
	}
	for _, field := range append([]string{"rating", "body", "title"}, fields...) {
		for name := range strings.FieldsSeq(known[field]) {
			if i, ok := simple[simpleName(name)]; ok && !used[i] && m[field] == nil {
				m[field], used[i] = header[i], true
			}
		}
	}
	return m
}

// simpleName returns the letters and digits of a name in lower case.
func simpleName(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}
