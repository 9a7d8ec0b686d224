package convert_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/reviews/convert"
)

// Many equal rows cost no more time than others.
func TestEqualRowsTakeNoTime(t *testing.T) {
	mapping := convert.Mapping{"collection_id": "p", "rating": "r", "created": "d", "author_name": "n"}
	_, result, _ := converted(t, convert.Request{Mapping: mapping},
		"p,r,d,n\n"+strings.Repeat("x,5,2019-04-03,a\n", 60000))
	if result.Converted != 60000 {
		t.Errorf("%+v", result)
	}
}

// A quote in each line costs no more time than other bytes.
func TestOpenQuotesTakeNoTime(t *testing.T) {
	_, result, _ := converted(t, convert.Request{Mapping: simple}, simpleHeader+strings.Repeat("1,\"x\n", 1<<19))
	if result.RejectedTotal == 0 || result.Converted != 0 {
		t.Errorf("%+v", result)
	}
}

// large yields the bytes of a file of so many reviews of so many collections, in an order that mixes them.
type large struct {
	rows, collections, at int
	rest                  []byte
}

func (l *large) Read(p []byte) (int, error) {
	if len(l.rest) == 0 {
		if l.at > l.rows {
			return 0, io.EOF
		}
		l.rest = l.row()
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

func (l *large) row() []byte {
	defer func() { l.at++ }()
	if l.at == 0 {
		return []byte("id,product,stars,date,name,title,text\n")
	}
	return fmt.Appendf(nil,
		"%d,product-%d,%d,%02d/%02d/2019,Customer %d,\"Title, %d\",\"A review of some length, as people write them: "+
			"it works, and it looks good.\nThe second line says \"\"more\"\" about it. %s\"\n",
		l.at, l.at%l.collections, l.at%5+1, l.at%28+1, l.at%12+1, l.at, l.at, strings.Repeat("And more. ", l.at%20))
}

// file returns the whole file.
func (l *large) file() []byte {
	var out []byte
	for range l.rows + 1 {
		out = append(out, l.row()...)
	}
	return out
}

// Rows of one collection are found wherever they are, also if the rows do not fit into memory.
func TestRowsThatDoNotFitIntoMemory(t *testing.T) {
	l := &large{rows: 20000, collections: 700}
	list, result, _ := converted(t, convert.Request{Mapping: simple}, string(l.file()))
	if len(list) != 700 || result.Converted != 20000 {
		t.Errorf("%d collections, %+v", len(list), result)
	}
	for _, r := range list {
		if !slices.IsSortedFunc(r.Reviews, func(a, b review) int {
			x, _ := strconv.Atoi(a.ID)
			y, _ := strconv.Atoi(b.ID)
			return x - y
		}) {
			t.Fatalf("%s is not in the order of the file", r.ID)
		}
	}
	l = &large{rows: 6000, collections: 7}
	_, result, _ = converted(t, convert.Request{Mapping: simple, MaxLine: 20 << 10}, string(l.file()))
	if result.RejectedTotal == 0 || !strings.Contains(result.Rejected[0].Reason, "20480 bytes") {
		t.Errorf("%+v", result)
	}
}

// The memory is that of a few rows and runs, whatever the file is.
func TestMemoryIsFlat(t *testing.T) {
	most := uint64(0)
	look := func() {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		most = max(most, m.HeapAlloc)
	}
	result, err := convert.Convert(t.Context(),
		convert.Request{File: &large{rows: 100000, collections: 1000}, To: writes(look), Mapping: simple,
			Progress: func(n int64) {
				if n%64 == 0 {
					look()
				}
			}})
	if err != nil || result.Converted != 100000 || most > 64<<20 {
		t.Errorf("%d MiB, %+v, %v", most>>20, result, err)
	}
	t.Logf("%d MiB", most>>20)
}

// A column that no field comes from takes no memory for long.
func TestMemoryIsFlatWithLargeColumns(t *testing.T) {
	row := "1,%d,5,2019-04-03,Ann,,," + strings.Repeat("x", 100<<10) + "\n"
	var file strings.Builder
	file.WriteString(strings.TrimSpace(simpleHeader) + ",unused\n")
	for i := range 1000 {
		fmt.Fprintf(&file, row, i)
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	most := uint64(0)
	result, err := convert.Convert(t.Context(),
		convert.Request{File: strings.NewReader(file.String()), To: io.Discard, Mapping: simple, Progress: func(int64) {
			runtime.GC()
			runtime.ReadMemStats(&after)
			most = max(most, after.HeapAlloc)
		}})
	if err != nil || result.Converted != 1000 || most > before.HeapAlloc+32<<20 {
		t.Errorf("%d MiB more, %+v, %v", (most-before.HeapAlloc)>>20, result, err)
	}
}

// writes is a writer that forgets what it gets, and calls a function.
type writes func()

func (w writes) Write(p []byte) (int, error) {
	w()
	return len(p), nil
}

// A table that unpacks to more than there is room for is refused, and one waits for the temporary file of another.
func TestTemporaryFilesAreBounded(t *testing.T) {
	spools := make(chan struct{}, 1)
	in := convert.Request{File: &large{rows: 30000, collections: 10}, To: io.Discard, Mapping: simple, Spools: spools,
		MaxSpool: 4 << 20}
	if _, err := convert.Convert(t.Context(), in); !errors.Is(err, vitrine.ErrInvalid) ||
		!strings.Contains(err.Error(), "4194304 bytes") || len(spools) != 0 {
		t.Errorf("%v, %d in use", err, len(spools))
	}
	spools <- struct{}{}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	in.File = &large{rows: 30000, collections: 10}
	if _, err := convert.Convert(ctx, in); !errors.Is(err, context.DeadlineExceeded) || len(spools) != 1 {
		t.Errorf("%v, %d in use", err, len(spools))
	}
	in.File, in.Spools = &large{rows: 1000, collections: 10}, spools // which needs none
	if _, err := convert.Convert(t.Context(), in); err != nil {
		t.Error(err)
	}
}
