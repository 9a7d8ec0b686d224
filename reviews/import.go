package reviews

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/reviews/internal/format"
	"github.com/vitrine-go/vitrine/storage"
)

// ImportRequest is the request of Import. Only File is required.
type ImportRequest struct {
	Network string        // the network that the reviews belong to; "" = the only one that the caller moderates
	File    io.Reader     // in the import format, as it is or compressed with gzip
	DryRun  bool          // compare with the store and report, but store nothing
	Problem func(Problem) // if not nil, gets every problem, in the order of the file; called by the goroutine of Import

	// ReadOptions say how the file is read.
	ReadOptions
}

// maxQueued is the maximum number of lines and problems that wait for a transaction. A transaction usually begins
// earlier, at maxTransaction bytes; this limits the memory for lines that store little, and for problems that wait
// behind one of them.
const maxQueued = 1000

// maxTransaction is the approximate number of bytes of JSON that one transaction stores; a single line may be longer.
const maxTransaction = 1 << 20

// maxExamined is how many created collections of a transaction are looked up for Counts.Namesakes.
const maxExamined = 16

// Import reads a file as Check does, and stores what is accepted in the network, in transactions of about 1 MiB. A
// review is identified by its network, the source and the id of its collection, and its own id. It is created, updated
// if its content differs from the stored one, or left unchanged. The members of a collection, such as its title, are
// replaced by those of the file, unless the collection has an error or all of its reviews in the file are rejected. An
// import deletes nothing.
//
// After an import that was killed, or has returned an error, repeat it with the whole file: what it has stored is then
// unchanged. The store is the only checkpoint, so no other record of progress could disagree with it. Two imports may
// run at the same time in one network. Each transaction compares its reviews with what is stored at that moment, so
// counts stay right, and the later transaction decides a review that both files have. Delete may run at the same time
// too.
//
// With DryRun, Import reads the store and writes nothing. Created, Updated and Unchanged of the report say what an
// import would do at this moment.
//
// Import returns ErrForbidden unless the caller moderates the network as a whole or is an operator. It returns
// ErrInvalid without a File, and without a Network if the caller moderates several networks or is an operator. It also
// returns the error of reading the file, of the store or of ctx. Problems go into the report: if every line of the file
// is rejected, Import returns nil. With an error the report says what was done before it, and that stays stored.
func (s *Session) Import(ctx context.Context, in ImportRequest) (Report, error) {
	network, err := s.network(in.Network)
	if err == nil && in.File == nil {
		err = fault.Invalid("", "the request has no file to import")
	}
	if err != nil {
		return Report{Problems: []Problem{}}, err
	}
	if in.Now == nil {
		in.Now = s.service.now
	}
	in.MaxLine = cmp.Or(in.MaxLine, s.service.limits.Line)
	i := &importer{ctx: ctx, service: s.service, by: s.by, network: network}
	i.reading = newReading(in.ReadOptions, in.DryRun, func(p Problem) bool {
		if in.Problem != nil {
			in.Problem(p)
		}
		return true
	})
	i.checker.Store = i.add
	err = i.checker.Read(ctx, in.File)
	// Store also what was accepted before a read error, unless the caller has given up.
	if i.err == nil {
		i.err = ctx.Err()
	}
	i.commit()
	i.checker.End(err == nil && i.err == nil)
	if i.err == nil {
		i.err = i.warnOfOverwriting()
	}
	// The error of the store or of ctx comes first: it may be the reason why reading ended.
	if i.err != nil {
		err = i.err
	}
	return i.total(), err
}

// importer stores what its checker accepts.
//
// Lines wait in a queue, so that one transaction stores many of them. A transaction may find problems of the rule
// stored-dimensions, since only the store has the dimensions of stored reviews. So the problems of lines behind the
// first one in the queue wait too, and all are reported in the order of the file after the commit.
//
// Each Import creates an importer, and only the goroutine that has called Import uses it.
type importer struct {
	*reading
	ctx     context.Context
	service *Service
	by      vitrine.Caller
	network string
	queue   []format.Result
	waiting int   // lines and problems in the queue
	size    int   // bytes that the queue will store
	err     error // of the store; the import stops at the first
}

// add queues a line. If the line stores nothing and the queue is empty, add reports its problems at once.
func (i *importer) add(r format.Result) {
	if len(i.queue) == 0 && r.Incoming == nil {
		i.checker.Tell(r.Problems)
		return
	}
	i.queue = append(i.queue, r)
	i.waiting += 1 + len(r.Problems)
	if r.Incoming != nil {
		i.size += r.Incoming.Size
	}
	if i.size >= maxTransaction || i.waiting >= maxQueued {
		i.commit()
	}
}

// commit stores the queue in one Update or, in a dry run, compares it with the store in one View. On success it adds
// the result to the report, and reports the problems of the queue and of the transaction. Otherwise it keeps the error
// of the store, and the pipeline stops. It always empties the queue.
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
	if i.report.DryRun {
		i.err = view(i.ctx, i.service.db, i.network, apply)
	} else {
		i.err = i.service.As(i.by).change(i.ctx, i.network, storage.UpdateOptions{Large: size > maxTransaction},
			func(s *rows) (Event, error) {
				err := apply(s)
				return Event{Action: ActionImported, Created: done.ReviewsCreated, Updated: done.ReviewsUpdated}, err
			})
	}
	if i.err != nil {
		i.checker.Stop = true
		return
	}
	i.report.Counts.Add(done)
	for _, r := range queue {
		if r.Incoming != nil && r.Incoming.Mismatch.Message != "" {
			r.Problems = append(r.Problems, r.Incoming.Mismatch)
		}
		i.checker.Tell(r.Problems)
	}
}

// warnOfOverwriting applies the rule overwrite: the file changes more than half of the reviews that were stored in the
// network before the import. It reads collections until they have twice as many reviews as were changed.
func (i *importer) warnOfOverwriting() error {
	changed := i.report.ReviewsUpdated
	if changed <= i.report.ReviewsUnchanged { // at most half of the stored reviews in the file were changed
		return nil
	}
	var stored int64 // reviews before the import
	err := view(i.ctx, i.service.db, i.network, func(s *rows) error {
		stored = 0
		if !i.report.DryRun {
			stored = -i.report.ReviewsCreated
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
		i.checker.Warn(format.RuleOverwrite,
			fmt.Sprintf("of the reviews that were stored in this network, this file changes %d, which is "+
				"more than half; make sure that it is the right file for this network", changed))
	}
	return err
}

// merge compares a queue with what is stored, and stores the differences, unless in a dry run. It returns the counts of
// the reviews and collections. The store may call it again with the same queue.
//
// The dimensions of a line are put into the order of the stored ones, see toStoredOrder. If the stored collection has
// reviews with other dimensions, the line is not stored and its reviews are rejected (rule stored-dimensions), since
// both kinds of ratings cannot be counted together. A stored collection without reviews takes the dimensions of the
// file.
//
// Otherwise the tally is updated with the new and changed reviews. The collection is written if its fields or reviews
// have changed, so an import that changes nothing writes nothing. A collection whose reviews were all rejected is not
// written, see format.Incoming.
func merge(s *rows, queue []format.Result) (done Counts, err error) {
	var keys []CollectionKey
	for _, q := range queue {
		if q.Incoming != nil {
			keys = append(keys, CollectionKey{q.Incoming.Source, q.Incoming.ID})
		}
	}
	found, err := s.collectionsOf(keys)
	if err != nil {
		return done, err
	}
	for _, q := range queue {
		in := q.Incoming
		if in == nil {
			continue
		}
		in.Mismatch.Message = ""
		key := CollectionKey{in.Source, in.ID}
		now, known := found[key]
		now.CollectionKey = key
		if _, err := s.noted(now); err != nil {
			return done, err
		}
		if known {
			mismatch, err := toStoredOrder(in, now)
			if err != nil {
				return done, err
			}
			if mismatch != "" && now.Tally.Reviews > 0 {
				in.Mismatch.Message = mismatch
				done.ReviewsRejected += int64(len(in.Reviews))
				if in.Makes { // otherwise its own rules have rejected it, which is counted already
					done.CollectionsRejected++
				}
				continue
			}
		}
		if !in.Makes {
			continue
		}
		same := bytes.Equal(in.Fields, now.fields)
		switch {
		case !known:
			done.CollectionsCreated++
			if done.CollectionsCreated > maxExamined {
				break
			}
			for _, err := range s.withID(key.ID) {
				if err != nil {
					return done, err
				}
				done.Namesakes++
				break
			}
		case !same:
			done.CollectionsUpdated++
		}
		now.fields = in.Fields
		now.Tally.size(in.Dims) // for a collection that is new, or has no reviews
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

// compare counts the new, changed and unchanged reviews of in, updates the tally of c, and returns the new and changed
// ones.
func compare(s *rows, in *format.Incoming, c *stored, done *Counts) (put []row, err error) {
	same := make([]bool, len(in.Reviews))
	put = make([]row, len(in.Reviews))
	for n, r := range in.Reviews {
		put[n].Review = r
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
			was.old, was.Review = was.Data, put[n].Review
			put[n] = was
		}
	}
	kept := put[:0]
	for n, r := range put {
		switch {
		case same[n]:
			done.ReviewsUnchanged++
			continue
		case r.n > 0:
			done.ReviewsUpdated++
		default:
			done.ReviewsCreated++
		}
		c.Tally.add(r.Ratings)
		kept = append(kept, r)
	}
	return kept, nil
}
