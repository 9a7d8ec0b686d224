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

// maxQueued is how many lines and problems wait for a transaction at most. A transaction usually begins earlier, at
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
	i := &importer{store: s.db, network: network, dryRun: in.DryRun}
	i.fileChecker = newFileChecker(ctx, in.Options, in.DryRun, func(p Problem) bool {
		if in.Problem != nil {
			in.Problem(p)
		}
		return true
	})
	i.fileChecker.store = i.add
	in.MaxLine = cmp.Or(in.MaxLine, s.limits.Line)
	err = newPipeline(in.Options, true, i.fileChecker).run(in.File)
	// What was accepted before the file could not be read on is stored too, unless the caller has given up.
	if i.err == nil {
		i.err = ctx.Err()
	}
	i.commit()
	i.end(err == nil && i.err == nil)
	if i.err == nil {
		i.err = i.warnOfOverwriting()
	}
	// The error of the store or of ctx comes first: it may be the reason why reading ended.
	if i.err != nil {
		err = i.err
	}
	return i.report, err
}

// importer stores what its fileChecker accepts.
//
// Lines wait in a queue, so that one transaction stores many of them. A transaction may find problems of its own, of the rule
// stored-dimensions: only the store knows the dimensions of the stored reviews. So the problems of the lines that come after the first
// in the queue wait with them. When the transaction is committed, all of them are reported in the order of the file.
//
// Each Import makes an importer. It is used by the goroutine that has called Import alone.
type importer struct {
	*fileChecker
	store   storage.Store
	network string
	dryRun  bool
	queue   []lineResult
	waiting int   // lines and problems in the queue
	size    int   // bytes that the queue is to store
	err     error // of the store; the import stops at the first
}

// add queues a line, or reports its problems if nothing of it is to be stored and none before it waits.
func (i *importer) add(r lineResult) {
	if len(i.queue) == 0 && r.incoming == nil {
		i.tell(r.problems)
		return
	}
	i.queue = append(i.queue, r)
	i.waiting += 1 + len(r.problems)
	if r.incoming != nil {
		i.size += r.incoming.size
	}
	if i.size >= maxTransaction || i.waiting >= maxQueued {
		i.commit()
	}
}

// commit stores the queue in one Update, or compares it with the store in one View in a dry run. If that succeeds, it adds the outcome to the
// report, and reports the problems of the queue with those that the transaction has found. Otherwise it keeps the error of the store, and
// the pipeline stops. The queue is empty then, so that no goroutine waits for a result in it.
func (i *importer) commit() {
	queue, size := i.queue, i.size
	i.queue, i.waiting, i.size = nil, 0, 0
	if len(queue) == 0 || i.err != nil {
		return
	}
	var done Counts
	apply := func(s *rows) (err error) {
		done, err = merge(s, queue)
		return err
	}
	if i.dryRun {
		i.err = view(i.ctx, i.store, i.network, apply)
	} else {
		i.err = update(i.ctx, i.store, i.network, storage.UpdateOptions{Large: size > maxTransaction}, apply)
	}
	if i.err != nil {
		i.stop = true
		return
	}
	i.report.Counts.Add(done)
	for _, r := range queue {
		if r.incoming != nil && r.incoming.mismatch.Message != "" {
			r.problems = append(r.problems, r.incoming.mismatch)
		}
		i.tell(r.problems)
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
			if stored += c.Tally.Reviews; stored >= 2*changed {
				break
			}
		}
		return nil
	})
	if err == nil && stored < 2*changed {
		i.give(ruleOverwrite.problem(1, 1, i.start, "", fmt.Sprintf("of the reviews that were stored in this network, this file changes %d, which is "+
			"more than half; make sure that it is the right file for this network", changed)))
	}
	return err
}

// merge compares a queue with what is stored, and puts the differences. In a dry run nothing is put. It returns what becomes of the
// reviews and of their collections. The store may call it again, with the same queue.
//
// The dimensions of a line are put into the order of the stored ones, see toStoredOrder. If the stored collection has reviews with other
// dimensions, nothing of the line is stored, and its reviews are rejected (rule stored-dimensions), since the ratings of both could not be
// counted together. A stored collection without reviews takes other dimensions of the file.
//
// Otherwise the tally is updated with the reviews that are new or changed. The collection is written if its fields or reviews have
// changed, so an import that changes nothing writes nothing. A collection of which all reviews were rejected is not
// written, see incoming.makes.
func merge(s *rows, queue []lineResult) (done Counts, err error) {
	var keys []Key
	for _, q := range queue {
		if q.incoming != nil {
			keys = append(keys, q.incoming.key)
		}
	}
	found, err := s.collectionsOf(keys)
	if err != nil {
		return done, err
	}
	for _, q := range queue {
		in := q.incoming
		if in == nil {
			continue
		}
		in.mismatch.Message = ""
		now, known := found[in.key]
		if known {
			mismatch, err := in.toStoredOrder(now)
			if err != nil {
				return done, err
			}
			if mismatch != "" && now.Tally.Reviews > 0 {
				in.mismatch.Message = mismatch
				done.Rejected += int64(len(in.reviews))
				if in.makes { // otherwise its own rules have rejected it, which is counted already
					done.CollectionsRejected++
				}
				continue
			}
		}
		if !in.makes {
			continue
		}
		same := bytes.Equal(in.fields, now.fields)
		switch {
		case !known:
			done.CollectionsCreated++
		case !same:
			done.CollectionsUpdated++
		}
		now.Key, now.fields = in.key, in.fields
		now.Tally.size(in.dims) // for a collection that is new, or has no reviews
		put, err := compare(s, in, &now, &done)
		if err != nil {
			return done, err
		}
		if s.t == nil || same && len(put) == 0 {
			continue
		}
		if !known {
			err = s.create(&now)
		}
		if err == nil {
			err = s.putReviews(&now, put)
		}
		if err == nil {
			err = s.putCollection(now)
		}
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

// compare counts what becomes of the reviews of in, changes the tally of c accordingly, and returns those that are new or changed.
func compare(s *rows, in *incoming, c *stored, done *Counts) (put []row, err error) {
	same := make([]bool, len(in.reviews))
	put = make([]row, len(in.reviews))
	for n, r := range in.reviews {
		put[n].Review = r.Review
	}
	if c.Number > 0 {
		places, ids := make(map[string]int, len(put)), make([]string, len(put))
		for n, r := range put {
			places[r.ID], ids[n] = n, r.ID
		}
		for was, err := range s.byID(*c, ids) {
			if err != nil {
				return nil, err
			}
			n := places[was.ID]
			if same[n] = bytes.Equal(was.Data, put[n].Data); !same[n] {
				if err := c.Tally.subtract(was.Data); err != nil {
					return nil, err
				}
			}
			was.Review = put[n].Review
			put[n] = was
		}
	}
	kept := put[:0]
	for n, r := range put {
		switch {
		case same[n]:
			done.Unchanged++
			continue
		case r.n > 0:
			done.Updated++
		default:
			done.Created++
		}
		c.Tally.add(in.reviews[n].ratings)
		kept = append(kept, r)
	}
	return kept, nil
}
