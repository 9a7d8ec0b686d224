package reviews

import "strconv"

// reviewMembers are the members of a review. The first five are required. A review also needs an author, author_id or
// imported_display_name, which reviewObject checks. The constants are the indices of the members.
//
//	id                     text that is not empty, once in the collection
//	title                  any text
//	body_html              HTML of <p> and <a> alone, see markup
//	created                a time, see timestampFault
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

// The limits of a review, beside maxStored, which bounds all of it. Its texts have no limits of their own, except author_id, the
// addresses and the times, see maxAuthorID, maxAddress, maxHref and maxTimestamp.
const (
	maxAuthorID = 255 // characters
	maxRating   = 100
)

// review is what a lineChecker knows of the review that is read. readReview resets it. After the last review of a collection,
// index is -1 again, so that a problem is one of the collection.
type review struct {
	index   int64       // in its collection; -1: no review is read
	faults  int64       // errors in it so far
	from    int         // where in lineChecker.found its problems begin
	known   bool        // its id was read and is valid, so id is set
	id      fingerprint // of the id
	text    string      // the id, for an import
	parent  string      // the parent_id, for an import; "" if it is no reply
	shown   []byte      // the beginning of the id, for a problem; empty: it was not read
	ratings []byte      // for an import
	created int64       // for an import: when it was written, see instant
}

// readReview reads one review and counts it. The rules are:
//
//   - The review is an object, of at most 16 MiB with white space (stored-size, if it has no other error).
//   - Its id is not that of an earlier review of the collection, accepted or not (review-repeated).
//   - Its members keep their own rules, see reviewObject and reviewMember.
//
// The review is rejected if it has an error. If it has none, an import keeps it, and it is marked in c.ids, so that a later
// review may reply to it.
//
// The review is pinned while it is read, so that all of it is in the window when it is kept. If it is longer than the window
// may grow, reading breaks off with c.overflow, and the review is read over once more, as JSON without rules.
func (c *lineChecker) readReview() verdict {
	c.review = review{index: c.item, from: len(c.found), shown: c.review.shown[:0], ratings: c.review.ratings[:0]}
	c.item = -1
	c.peek()
	c.pin()
	start := c.offset()
	v := c.expect('{', "", "an object")
	if v == accepted {
		v = c.reviewObject(start)
	}
	if v == broken && !c.overflow {
		return broken
	}
	// The id joins the set whether the review is accepted or not: a second review with it is an error in either case.
	if c.review.known && !c.ids.add(c.review.id) {
		c.report(ruleReviewRepeated, start, "", "a review with this id came before in this collection; keep one of them, or give it an id of its own")
	}
	if c.review.faults == 0 && (c.overflow || c.offset()-start > int64(c.sizeLimit)) {
		c.report(ruleStoredSize, start, "", "the review is longer than what is stored of one; want at most 16 MiB")
	}
	// The review is counted and kept. Then it is unpinned, so that the window can move beyond it.
	c.result.reviews++
	c.collection.hasReviews = true
	if c.forImport && !c.overflow && c.keepReview(start) == broken {
		return broken
	}
	if tooLong := c.endPin(); tooLong && c.stepOver() == broken { // once more from its beginning
		return broken
	}
	c.nameReview()
	if c.review.faults > 0 {
		c.result.rejected++
	} else {
		c.ids.mark(c.review.id)
	}
	return accepted
}

// reviewObject reads the members of a review, and applies the rules that are about several of them. start is the offset of the
// review, where they are reported. id, title, body_html, created and ratings are required (member-missing). The author is either
// author_id alone, or imported_display_name with or without imported_email and imported_url (author-conflict, author-missing).
func (c *lineChecker) reviewObject(start int64) verdict {
	seen, v := c.object(&c.ofReview, (*lineChecker).reviewMember)
	if v == broken {
		return broken
	}
	// Only now is it known which members the review lacks.
	c.missing(&c.ofReview, seen, start)
	// A member that is there counts, whatever its value is: imported_email may be null, and still excludes author_id.
	const author, imported = 1 << reviewAuthor, 1<<reviewName | 1<<reviewEmail | 1<<reviewURL
	switch {
	case seen&author != 0 && seen&imported != 0:
		c.report(ruleAuthorConflict, start, "", "author_id and imported_ members exclude each other; keep author_id alone, or the others without it")
	case seen&(author|1<<reviewName) == 0:
		c.report(ruleAuthorMissing, start, "", "both author_id and imported_display_name are missing; want one of them")
	}
	return accepted
}

// reviewMember reads the value of the member with index i, and applies the rules of that member. The title may be any text, also
// an empty one. imported_email may be any text or null, but should be an address.
func (c *lineChecker) reviewMember(i int) (v verdict) {
	switch i {
	case reviewID:
		v = c.readID()
	case reviewTitle:
		v = c.anyText("/title")
	case reviewBody:
		v = c.bodyHTML("/body_html")
	case reviewCreated:
		v = c.timestamp("/created")
		c.review.created = c.time
	case reviewRatings:
		v = c.readRatings()
	case reviewAuthor:
		_, v = c.limited("/author_id", maxAuthorID, ruleAuthorLength)
	case reviewName:
		_, v = c.nonEmpty("/imported_display_name")
	case reviewEmail:
		v = c.nullOr((*lineChecker).email, "/imported_email")
	case reviewURL:
		v = c.nullOr((*lineChecker).address, "/imported_url")
	case reviewSubparts:
		v = c.subparts()
	case reviewParent:
		v = c.parent()
	}
	return v
}

// readID reads the id of a review: a string of any length that is not empty. A check keeps its fingerprint, by which the ids of a
// collection are compared, and its first maxShown bytes for problems. An import also keeps the text, as the key of the review.
func (c *lineChecker) readID() verdict {
	text, v := c.nonEmpty("/id")
	c.review.shown = append(c.review.shown, text[:min(len(text), maxShown+1)]...)
	if v != accepted {
		return v
	}
	c.review.known, c.review.id = true, c.fingerprint(text)
	if c.forImport {
		c.review.text = c.wholeText(text)
	}
	return accepted
}

// readRatings reads the ratings, one for each dimension (ratings-count). They are not compared with the number of dimensions if
// that is not known, because dimensions has an error itself.
func (c *lineChecker) readRatings() verdict {
	c.peek()
	at := c.offset()
	if v := c.expect('[', "/ratings", "an array of integers"); v != accepted {
		return v
	}
	n, v := c.items((*lineChecker).rating)
	if v == broken {
		return broken
	}
	// A rating with an error has a problem of its own, and counts here all the same.
	if c.collection.dims >= 0 && n != c.collection.dims {
		c.report(ruleRatingsCount, at, "/ratings", strconv.FormatInt(n, 10)+" ratings, want one for each of "+
			strconv.FormatInt(c.collection.dims, 10)+" dimensions")
	}
	return accepted
}

// rating reads one rating: a number from 1 to 100 (rating-range) that is written as an integer, without fraction and exponent
// (rating-integer), and without quotes (value-type).
func (c *lineChecker) rating() verdict {
	first := c.peek()
	at := c.offset()
	if first != '-' && (first < '0' || first > '9') {
		c.report(ruleType, at, "/ratings", "this is "+c.kind()+", want an integer from 1 to 100, without quotes")
		return c.discard("/ratings")
	}
	// number refuses what is no integer, also 5.0. It reads an integer of any length.
	value, v := c.number()
	switch {
	case v == broken:
	case v == refused:
		c.report(ruleRatingInteger, at, "/ratings", "a rating is an integer without fraction and exponent: 5, not 5.0")
	case value < 1 || value > maxRating:
		c.report(ruleRatingRange, at, "/ratings", "a rating is from 1 to 100; scale others to that")
	default:
		c.result.ratings++
		c.result.top = max(c.result.top, uint8(value))
		if c.forImport {
			c.review.ratings = append(c.review.ratings, byte(value))
		}
	}
	return v
}

// subparts reads an object whose members may have any name, each once (member-repeated), and are strings (value-type). The format
// does not say what the names mean; a program keeps data there that no other member has room for.
func (c *lineChecker) subparts() verdict {
	if v := c.expect('{', "/subparts", "an object of strings"); v != accepted {
		return v
	}
	if c.enter() == broken {
		return broken
	}
	c.names.clear()
	for first := true; ; first = false {
		if s := c.element('}', first); s != stepElement {
			return s.ended()
		}
		if c.subpart() == broken {
			return broken
		}
	}
}

// subpart reads one member of subparts. A problem of its name or its value has the name in the pointer.
func (c *lineChecker) subpart() verdict {
	if c.quote() == broken {
		return broken
	}
	name, v := c.text()
	if v == broken {
		return broken
	}
	// Keep of the name what is needed after a problem: whether the object had it before, and what the pointer shows of it.
	id := c.fingerprint(name)
	c.subpartName = append(c.subpartName[:0], name[:min(len(name), maxName)]...) // name is invalid once a problem is reported
	c.inSubpart = true
	c.flaws("/subparts")
	if !c.names.add(id, maxNames) {
		c.report(ruleRepeated, c.str.offset, "/subparts", repeatedMember)
	}
	if v = c.colon(); v == accepted {
		v = c.anyText("/subparts")
	}
	c.inSubpart = false
	return v
}
