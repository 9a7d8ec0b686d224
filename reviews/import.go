package reviews

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/storage"
)

// ImportRequest is the request of Import. Only File is required.
type ImportRequest struct {
	Network string        // the network that the reviews belong to; "" = the only one that the caller moderates
	File    io.Reader     // in the import format, as it is or compressed with gzip
	DryRun  bool          // compare with the store and report, but store nothing
	Problem func(Problem) // if not nil, gets every problem, in the order of the file; called by the goroutine of Import

	// Options say how the file is read.
	Options
}

// maxQueued is how many results of lines and problems wait for a transaction at most. A transaction usually begins earlier, at
// maxTransaction bytes; this bounds the memory for lines that store little, and for problems that wait after one of them.
const maxQueued = 1000

// Import reads a file as Check does, and stores what is accepted in the network, in transactions of about 1 MiB. A review is
// identified by its network, by the source and the id of its collection, and by its own id. It is created, updated if its
// content differs from the stored one, or left unchanged. The title and the other members of a collection are replaced by those
// of the file, unless the collection has an error or all of its reviews in the file are rejected. An import deletes nothing: what
// is stored and not in the file stays.
//
// An import that was killed, or has returned an error, is repeated with the whole file: it finds unchanged what it has stored.
// Two imports may run at the same time in one network. Each transaction compares its reviews with what is stored at that moment,
// so counts stay right, and a review that both files have ends as the later transaction writes it. Delete may run at the same
// time too.
//
// With DryRun, Import reads the store and writes nothing. Created, Updated and Unchanged of the report are what an import would
// do at this moment.
//
// Import returns ErrForbidden unless the caller moderates the network as a whole or is an operator. It returns ErrInvalid
// without a File, and without a Network if the caller moderates several networks or is an operator. It also returns the error
// of reading the file, of the store or of ctx. Problems go into the report: if every line of the file is rejected, Import returns nil.
// With an error the report says what was done before it, and that stays stored.
func (s *Service) Import(ctx context.Context, by vitrine.Caller, in ImportRequest) (Report, error) {
	network, err := s.admitted(by, in.Network)
	if err == nil && in.File == nil {
		err = invalid("", "the request has no file to import")
	}
	if err != nil {
		return Report{Problems: []Problem{}}, err
	}
	// The importer gets all findings of the pipeline, in this goroutine.
	i := &importer{ctx: ctx, store: s.db, network: network, dryRun: in.DryRun}
	i.report.DryRun = in.DryRun
	i.report.Problems = []Problem{}
	i.tell = in.Progress
	i.yield = func(p Problem) bool {
		if in.Problem != nil {
			in.Problem(p)
		}
		return true
	}
	in.MaxLine = cmp.Or(in.MaxLine, s.limits.Line)
	err = newPipeline(in.Options, true, i).run(in.File)
	// What was accepted before the file could not be read on is stored too, unless the caller has given up.
	if i.err == nil {
		i.err = ctx.Err()
	}
	if i.err == nil {
		i.commit()
	}
	// The error of the store or of ctx comes first: it may be the reason why reading ended.
	i.end(err == nil && i.err == nil)
	if i.err == nil {
		i.err = i.warnOfOverwriting()
	}
	if i.err != nil {
		err = i.err
	}
	return i.report, err
}

// importer stores what a pipeline accepts. It is the sink of an import, as fileChecker is that of a check, and gives every
// finding to its fileChecker too.
//
// The results of lines wait in a queue, so that one transaction stores many of them. A transaction may find problems of its
// own, of the rule stored-dimensions: only the store knows the dimensions of the stored reviews. So the problems that
// come after a result wait in the queue with it. When the transaction is committed, all of them are reported in the order of
// the file. Without a result in the queue, a problem goes to the fileChecker at once.
//
// Each Import makes an importer. It is used by the goroutine that has called Import alone.
type importer struct {
	fileChecker
	ctx     context.Context
	store   storage.Store
	network string
	dryRun  bool
	queue   []queued
	size    int   // bytes that the queue is to store
	err     error // of the store; the import stops at the first
}

// queued is either a problem or what is to be stored.
type queued struct {
	problem  Problem
	incoming *incoming
}

// problem reports a problem, or queues it after the results that wait.
func (i *importer) problem(p Problem) {
	if len(i.queue) == 0 {
		i.fileChecker.problem(p)
		return
	}
	if i.warnings.note(p) { // it waits for the end of the file
		return
	}
	i.queue = append(i.queue, queued{problem: p})
	if len(i.queue) >= maxQueued {
		i.commit()
	}
}

// result counts the result of a line, and queues what is to be stored of it. It commits the queue if that is long enough.
func (i *importer) result(r lineResult) {
	// The problems of earlier lines are complete, unless something of them is queued: its transaction may find another problem.
	if len(i.queue) == 0 {
		i.endLineBefore(r.line)
	}
	if !i.count(r, i.problem) || r.incoming == nil {
		return
	}
	i.queue = append(i.queue, queued{incoming: r.incoming})
	i.size += r.incoming.size
	if i.size >= maxTransaction || len(i.queue) >= maxQueued {
		i.commit()
	}
}

// stopped returns whether the pipeline is to read no further: the store has failed, or the caller has given up.
func (i *importer) stopped() bool { return i.err != nil || i.ctx.Err() != nil }

// done is closed when the caller has given up.
func (i *importer) done() <-chan struct{} { return i.ctx.Done() }

// commit stores the queue in one transaction and empties it. It keeps the error of the store in i.err, and stopped then ends the
// pipeline. After an error it only empties the queue, so that no goroutine waits for a result in it.
func (i *importer) commit() {
	if len(i.queue) > 0 && i.err == nil {
		i.commitQueue()
	}
	clear(i.queue) // so that its memory is free
	i.queue, i.size = i.queue[:0], 0
}

// commitQueue stores the queue in one Update, or compares it with the store in one View in a dry run. If that succeeds, it adds
// the outcome to the report and reports the problems of the queue. The store may call the function again, so each call begins
// with an empty outcome.
func (i *importer) commitQueue() {
	var done outcome
	apply := func(s *rows) error {
		done = outcome{}
		return done.apply(s, i.queue)
	}
	if i.dryRun {
		i.err = view(i.ctx, i.store, i.network, apply)
	} else {
		i.err = update(i.ctx, i.store, i.network, storage.UpdateOptions{Large: i.size > maxTransaction}, apply)
	}
	// Only what was committed counts, and its problems are reported only now.
	if i.err == nil {
		i.report.CollectionsCreated += done.collectionsCreated
		i.report.CollectionsUpdated += done.collectionsUpdated
		i.report.CollectionsRejected += done.collectionsRejected
		i.report.Created += done.created
		i.report.Updated += done.updated
		i.report.Unchanged += done.unchanged
		i.report.Rejected += done.rejected
		i.tellQueued(done.mismatches)
	}
}

// warnOfOverwriting applies the rule overwrite: of the reviews that were stored in the network before the import, the file changes
// more than half. A dry run says so before it happens. It reads as many collections as have twice as many reviews as were changed.
func (i *importer) warnOfOverwriting() error {
	changed := i.report.Updated
	if changed <= i.report.Unchanged { // not more than half of the stored reviews that are in the file
		return nil
	}
	var stored int64 // before the import
	err := view(i.ctx, i.store, i.network, func(s *rows) error {
		stored = 0
		if !i.dryRun {
			stored = -i.report.Created
		}
		for c, err := range s.all() {
			if err != nil {
				return err
			}
			counts, err := parseTally(c.Collection)
			if err != nil {
				return err
			}
			if stored += counts.reviews; stored >= 2*changed {
				break
			}
		}
		return nil
	})
	if err == nil && stored < 2*changed {
		i.give(ruleOverwrite.problemAt(1, 1, i.start, fmt.Sprintf("of the reviews that were stored in this network, this file changes %d, which is "+
			"more than half; make sure that it is the right file for this network", changed)))
	}
	return err
}

// tellQueued reports the problems of the queue, and those that the transaction has found, in the order of the queue. mismatches
// has a message for each collection that breaks the rule stored-dimensions.
func (i *importer) tellQueued(mismatches map[*incoming]string) {
	for _, q := range i.queue {
		if q.incoming == nil {
			i.fileChecker.problem(q.problem)
		} else if message := mismatches[q.incoming]; message != "" {
			in := q.incoming
			p := ruleStoredDimensions.problem(in.line, in.dimsAt, in.dimsPath, message)
			p.Column, p.Value, p.Collection = in.dimsColumn, in.dimsText, shown([]byte(in.collection.ID))
			i.fileChecker.problem(p)
		}
	}
}

// outcome is what a transaction has done, or would do in a dry run.
type outcome struct {
	created, updated, unchanged, rejected                       int64 // reviews
	collectionsCreated, collectionsUpdated, collectionsRejected int64
	mismatches                                                  map[*incoming]string // messages of the rule stored-dimensions
}

// apply compares the queue with what is stored, and puts the differences. In a dry run nothing is put.
func (done *outcome) apply(s *rows, queue []queued) error {
	var keys []Key
	for _, q := range queue {
		if q.incoming != nil {
			keys = append(keys, q.incoming.collection.Key)
		}
	}
	found, err := s.collectionsOf(keys)
	if err != nil {
		return err
	}
	for _, q := range queue {
		if q.incoming == nil {
			continue
		}
		if err := done.merge(s, found[q.incoming.collection.Key], q.incoming); err != nil {
			return err
		}
	}
	return nil
}

// merge does what apply does, for the collection of one line or of one part of it. Its dimensions are put into the order of the
// stored ones, see toStoredOrder. If the stored collection has reviews with other dimensions, nothing of the line is stored, and
// its reviews are rejected (rule stored-dimensions), since the ratings of both could not be counted together. A stored collection
// without reviews takes other dimensions of the file.
//
// Otherwise the tally is updated with the reviews that are new or changed. The collection is written if its fields or its tally
// have changed, so an import that changes nothing writes nothing. A collection of which all reviews were rejected is not
// written, see incoming.makes.
func (done *outcome) merge(s *rows, old stored, in *incoming) (err error) {
	known := old.number != 0
	var counts tally // of the stored reviews, and below of those that will be stored
	if known {
		if counts, err = parseTally(old.Collection); err != nil {
			return err
		}
		fault, err := in.toStoredOrder(old.Collection)
		if err != nil {
			return err
		}
		if fault != "" && counts.reviews > 0 {
			done.mismatch(in, fault)
			return nil
		}
	}
	if in.makes {
		switch {
		case !known:
			done.collectionsCreated++
		case !bytes.Equal(in.collection.Fields, old.Fields):
			done.collectionsUpdated++
		}
	}
	counts.size(in.dims) // for a collection that is new, or has no reviews
	put, err := done.compare(s, in, old, &counts)
	if err != nil || s.t == nil || !in.makes {
		return err
	}
	now := old
	now.Collection = Collection{Key: in.collection.Key, Fields: in.collection.Fields, Tally: counts.encode()}
	if known && len(put) == 0 && bytes.Equal(now.Fields, old.Fields) && bytes.Equal(now.Tally, old.Tally) {
		return nil
	}
	if !known {
		if err := s.create(&now); err != nil {
			return err
		}
	}
	if err := s.putReviews(&now, put); err != nil {
		return err
	}
	s.putCollection(now)
	return nil
}

// compare counts what becomes of the reviews of in, changes the tally accordingly, and returns those that are new or changed.
func (done *outcome) compare(s *rows, in *incoming, old stored, counts *tally) (put []row, err error) {
	records := map[string]*incomingReview{}
	ids := func(yield func(string) bool) {
		for i := range in.reviews {
			if !yield(in.reviews[i].ID) {
				return
			}
		}
	}
	for i := range in.reviews {
		review := &in.reviews[i]
		review.row, review.stored = row{Review: review.Review}, false // an Update may be tried again
		if old.number != 0 {
			records[review.ID] = review
		}
	}
	same := map[string]bool{}
	for was, err := range s.byID(old, ids) {
		if err != nil {
			return nil, err
		}
		review := records[was.ID]
		review.stored, review.n, review.was, review.large = true, was.n, was.was, was.large
		if same[was.ID] = bytes.Equal(was.Data, review.Data); same[was.ID] {
			continue
		}
		if err := counts.remove(was.Data); err != nil {
			return nil, err
		}
	}
	put = make([]row, 0, len(in.reviews))
	for _, review := range in.reviews {
		switch {
		case same[review.ID]:
			done.unchanged++
			continue
		case review.stored:
			done.updated++
		default:
			done.created++
		}
		counts.add(review.ratings)
		put = append(put, review.row)
	}
	return put, nil
}

// mismatch rejects the reviews of a collection whose stored reviews have other dimensions; message says which.
func (done *outcome) mismatch(in *incoming, message string) {
	done.rejected += int64(len(in.reviews))
	if in.makes { // otherwise its own rules have rejected it, which is counted already
		done.collectionsRejected++
	}
	if done.mismatches == nil {
		done.mismatches = map[*incoming]string{}
	}
	done.mismatches[in] = message
}
