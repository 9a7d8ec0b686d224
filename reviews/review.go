package reviews

import "strconv"

var reviewMembers = []string{"id", "title", "body_html", "created", "ratings",
	"author_id", "imported_display_name", "imported_email", "imported_url", "subparts", "parent_id"}

const (
	reviewID = iota
	reviewTitle
	reviewBody
	reviewCreated
	reviewRatings
	reviewAuthor
	reviewName
	reviewEmail
	reviewURL
	reviewSubparts
	reviewParent
)

const (
	maxAuthorID = 255 // characters
	maxRating   = 100
)

// readReview reads one review and decides whether it is accepted.
func (c *checker) readReview() bool {
	c.review, c.item = c.item, -1
	c.faults, c.own, c.ratings = 0, known{}, c.ratings[:0]
	c.next()
	start := c.offset()
	if c.load {
		c.keep(c.limit, nil)
	}
	yes, ok := c.is('{', "", "an object")
	if yes {
		ok = c.reviewObject(start)
	}
	if !ok {
		return false
	}
	c.got.reviews++
	c.takeReview(start)
	if c.faults > 0 {
		c.got.rejected++
	} else {
		c.ids.mark(c.own.fingerprint)
	}
	return true
}

func (c *checker) reviewObject(start int64) bool {
	seen, ok := c.object(&c.ofReview, (*checker).reviewMember)
	if !ok {
		return false
	}
	c.missing(&c.ofReview, seen, start)
	if c.own.ok && !c.ids.add(c.own.fingerprint) {
		c.report(ruleReviewRepeated, start, "", "a review with this id came before in this collection")
	}
	const author, imported = 1 << reviewAuthor, 1<<reviewName | 1<<reviewEmail | 1<<reviewURL
	switch {
	case seen&author != 0 && seen&imported != 0:
		c.report(ruleAuthorConflict, start, "", "author_id and imported_ members exclude each other")
	case seen&(author|1<<reviewName) == 0:
		c.report(ruleAuthorMissing, start, "", "author_id or imported_display_name is missing")
	}
	return true
}

func (c *checker) reviewMember(i int) (ok bool) {
	switch i {
	case reviewID:
		ok = c.readID()
	case reviewTitle:
		ok = c.anyText("/title")
	case reviewBody:
		ok = c.bodyHTML("/body_html")
	case reviewCreated:
		ok = c.timestamp("/created")
	case reviewRatings:
		ok = c.readRatings()
	case reviewAuthor:
		_, _, ok = c.limited("/author_id", maxAuthorID, ruleAuthorLength)
	case reviewName:
		_, _, ok = c.identity("/imported_display_name")
	case reviewEmail:
		ok = c.nullOr(func() bool { return c.anyText("/imported_email") })
	case reviewURL:
		ok = c.nullOr(func() bool { return c.address("/imported_url") })
	case reviewSubparts:
		ok = c.subparts()
	case reviewParent:
		ok = c.parent()
	}
	return ok
}

func (c *checker) readID() (ok bool) {
	var text []byte
	c.own, text, ok = c.identity("/id")
	if c.load {
		c.ownText = string(text)
	}
	return ok
}

func (c *checker) parent() bool {
	c.next()
	at := c.offset()
	parent, _, ok := c.identity("/parent_id")
	if !ok {
		return false
	}
	if parent.ok && !c.ids.marked(parent.fingerprint) {
		c.report(ruleParent, at, "/parent_id", "no earlier, accepted review of this collection has this id")
	}
	return true
}

func (c *checker) readRatings() bool {
	c.next()
	at := c.offset()
	if yes, ok := c.is('[', "/ratings", "an array of integers"); !yes {
		return ok
	}
	n, ok := c.items((*checker).rating)
	if !ok {
		return false
	}
	if c.dims >= 0 && n != c.dims {
		c.report(ruleRatingsCount, at, "/ratings", strconv.FormatInt(n, 10)+" ratings, want one for each of "+
			strconv.FormatInt(c.dims, 10)+" dimensions")
	}
	return true
}

func (c *checker) rating() bool {
	first := c.next()
	at, ok := c.offset(), true
	rule, message := ruleID(0), ""
	if first == '-' || '0' <= first && first <= '9' {
		var value int
		var integer bool
		value, integer, ok = c.number()
		switch {
		case !integer:
			rule, message = ruleRatingInteger, "a rating is written as an integer, without fraction and exponent"
		case value < 1 || value > maxRating:
			rule, message = ruleRatingRange, "a rating is from 1 to 100"
		case c.load:
			c.ratings = append(c.ratings, byte(value))
		}
	} else {
		c.report(ruleType, at, "/ratings", "this is "+c.kind()+", want an integer")
		return c.discard("/ratings")
	}
	if ok && message != "" {
		c.report(rule, at, "/ratings", message)
	}
	return ok
}

// subparts reads an object of strings under names of any kind, each once.
func (c *checker) subparts() bool {
	if yes, ok := c.is('{', "/subparts", "an object of strings"); !yes {
		return ok
	}
	if !c.enter() {
		return false
	}
	c.names.clear()
	for first := true; ; first = false {
		if more, ok := c.element('}', first); !more {
			return ok
		}
		if !c.subpart() {
			return false
		}
	}
}

func (c *checker) subpart() bool {
	if c.next() != '"' {
		return c.unexpected("a member name in quotes")
	}
	id, name, ok := c.print(maxName)
	if !ok {
		return false
	}
	// The window moves on from the name; a problem of the value needs it still.
	c.key = append(c.key[:0], name[:min(len(name), maxName)]...)
	c.inKey = true
	c.flaws("/subparts")
	if !c.names.add(id) {
		c.report(ruleRepeated, c.str.offset, "/subparts", "this member was given before")
	}
	ok = c.colon() && c.anyText("/subparts")
	c.inKey = false
	return ok
}
