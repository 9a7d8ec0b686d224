package format

import (
	"bytes"
	"strconv"
)

// reviewMembers are the members of a review. The first five are required. A review also needs an author, author_id or
// imported_display_name. The constants are the indices of the members.
//
//	id                     text that is not empty, once in the collection
//	title                  any text
//	body_html              HTML of <p> and <a> alone, see MarkupFault
//	created                a time, see ParseTime
//	ratings                an array of integers from 1 to 100, one for each dimension
//	author_id              text of 1 to 255 characters; excludes all imported_ members
//	imported_display_name  text that is not empty
//	imported_email         any text, or null
//	imported_url           an http or https address, "" or null
//	subparts               an object whose values are any text
//	parent_id              the id of an earlier, accepted review of the line
var reviewMembers = []string{"id", "title", "body_html", "created", "ratings",
	"author_id", "imported_display_name", "imported_email", "imported_url", "subparts", "parent_id"}

// The indices of reviewMembers, in the same order.
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

// The limits of a review. Its texts have no limits of their own, except author_id, the addresses and the times, see
// maxAddress, maxHref and maxTimestamp.
const (
	maxAuthorID = 255 // characters
	MaxRating   = 100
)

// reviewState is the state of the review that is being read.
type reviewState struct {
	reads   bool   // a review is being read; otherwise a problem belongs to the collection
	start   int    // where it begins in the line
	faults  int    // errors in it so far
	id      string // "" if not read yet or invalid
	named   bool   // shown is known
	shown   string // the id, as a problem shows it
	ratings []byte
	created int64 // when it was written, see ParseTime
	raw     [11][]byte
}

// readReview reads one review and counts it. Its id must differ from those of earlier reviews of the collection,
// accepted or not (review-repeated). id, title, body_html, created and ratings are required (member-missing). The
// author is either author_id alone, or imported_display_name with or without imported_email and imported_url
// (author-conflict, author-missing).
//
// The review is rejected if it has an error. If it has none, an import keeps it, and it is marked in c.ids, so that a
// later review may reply to it.
func (c *lineChecker) readReview() {
	r := &c.review
	*r = reviewState{reads: true, start: c.next(), ratings: r.ratings[:0]}
	c.result.reviews++
	if c.expect('{', "an object") {
		seen := c.object(reviewMembers, maxUnknown, (*lineChecker).reviewMember)
		// Missing members are known only now.
		c.missing(reviewMembers[:reviewAuthor], seen, r.start)
		// A present member counts, whatever its value: imported_email may be null, and still excludes author_id.
		const author, imported = 1 << reviewAuthor, 1<<reviewName | 1<<reviewEmail | 1<<reviewURL
		switch {
		case seen&author != 0 && seen&imported != 0:
			c.report(RuleAuthorConflict, r.start,
				"author_id and imported_ members exclude each other; keep author_id alone, or the others without it")
		case seen&(author|1<<reviewName) == 0:
			c.report(RuleAuthorMissing, r.start,
				"both author_id and imported_display_name are missing; want one of them")
		}
	}
	// The id counts even if the review is rejected: a second review with it is an error in either case.
	if r.id != "" {
		if _, repeated := c.ids[r.id]; repeated {
			c.report(RuleReviewRepeated, r.start,
				"a review with this id came before in this collection; keep one of them, or give it an id of its own")
		} else {
			c.ids[r.id] = r.faults == 0
		}
	}
	switch {
	case r.faults > 0:
		c.result.rejected++
	case c.forImport:
		c.keepReview()
	}
	r.reads = false
}

// reviewMember reads the value of the member with index i, and applies the rules of that member. The title may be any
// text, also an empty one. imported_email may be any text or null, but should be an address.
func (c *lineChecker) reviewMember(i int) {
	start := c.next()
	switch i {
	case reviewID:
		c.review.id = string(c.nonEmpty())
	case reviewTitle:
		c.anyText()
	case reviewBody:
		c.bodyHTML()
	case reviewCreated:
		c.review.created = c.timestamp()
	case reviewRatings:
		c.ratings()
	case reviewAuthor:
		c.limited(maxAuthorID, RuleAuthorLength)
	case reviewName:
		c.nonEmpty()
	case reviewEmail:
		if c.peek() == 'n' {
			c.value()
		} else {
			c.email()
		}
	case reviewURL:
		if c.peek() == 'n' {
			c.value()
		} else {
			c.address()
		}
	case reviewSubparts: // the format does not define the names; programs keep extra data here
		if c.expect('{', "an object of strings") {
			c.object(nil, len(c.text), func(c *lineChecker, _ int) { c.anyText() })
		}
	case reviewParent:
		c.parent()
	}
	c.review.raw[i] = c.text[start:c.pos]
}

// parent reads parent_id, the id of an earlier, accepted review of the same line (rule parent). So a reply to a
// rejected review is rejected too, and so is a reply to itself. c.ids has the earlier reviews.
func (c *lineChecker) parent() {
	at := c.next()
	if text := c.nonEmpty(); len(text) > 0 && !c.partial && !c.ids[string(text)] {
		c.report(RuleParent, at,
			"no earlier, accepted review of this collection has this id; put the parent before its replies, or take "+
				"parent_id out")
	}
}

// ratings reads the ratings, one for each dimension (ratings-count). Their number is not checked if the number of
// dimensions is unknown, because dimensions has an error itself.
func (c *lineChecker) ratings() {
	at := c.next()
	if !c.expect('[', "an array of integers") {
		return
	}
	// A rating with an error counts too; it has a problem of its own.
	if n := c.items((*lineChecker).rating); c.dims >= 0 && n != c.dims {
		c.report(RuleRatingsCount, at,
			strconv.Itoa(n)+" ratings, want one for each of "+strconv.Itoa(c.dims)+" dimensions")
	}
}

// rating reads one rating: a number from 1 to 100 (rating-range) that is written as an integer, without fraction and
// exponent (rating-integer), and without quotes (value-type).
func (c *lineChecker) rating() {
	if !c.expect('0', "an integer from 1 to 100, without quotes") {
		return
	}
	raw, at := c.value()
	value, err := strconv.Atoi(string(raw))
	switch {
	case err == nil && 1 <= value && value <= MaxRating:
		c.result.ratings++
		c.result.top = max(c.result.top, uint8(value))
		c.review.ratings = append(c.review.ratings, byte(value))
	case bytes.ContainsAny(raw, ".eE"):
		c.report(RuleRatingInteger, at, "a rating is an integer without fraction and exponent: 5, not 5.0")
	default:
		c.report(RuleRatingRange, at, "a rating is from 1 to 100; scale others to that")
	}
}
