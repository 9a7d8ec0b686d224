package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/vitrine-go/vitrine/internal/strictjson"
	"github.com/vitrine-go/vitrine/reviews/convert"
)

// rejection is the rejected rows whose reasons differ in values alone.
type rejection struct {
	count int64
	first []convert.Rejected
}

// add counts a row, and keeps the first ones.
func (r *rejection) add(row convert.Rejected) {
	if r.count++; r.count <= shownOfGroup {
		r.first = append(r.first, row)
	}
}

// values finds what reasons of the same kind differ in: numbers, and what is quoted of the table.
var values = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|\d[\d.,]*`)

// flagged names in the notes of convert the flags.
var flagged = strings.NewReplacer("dates=dmy", "-dates dmy", "dates=mdy", "-dates mdy", "zone=Eu", "-zone Eu")

// convertReviews is the command reviews convert: it writes a table of reviews in the import format. It says on
// standard error how many rows were converted, and why others were not.
func convertReviews(f *flag.FlagSet) action {
	mapping := f.String("mapping", "",
		"`FILE` that says where the fields come from, as JSON: {\"body\": \"Review Text\"}; without it they are "+
			"guessed. The fields are collection_id, collection_title, review_id, title, body, created, rating, "+
			"rating:<dimension>, author_name, author_email, author_id, author_url, parent_id, reply, "+
			"reply_created, reply_author, subpart:<name>; collection_id, created, a rating, and author_name or "+
			"author_id are required. Instead of a column a field may have a constant \"=text\", a list of columns "+
			"of which the first that is not empty counts, {\"columns\": [...], \"join\": \" \"}, {\"column\": ..., "+
			"\"map\": {\"thumbs up\": 100}}, or for a rating {\"column\": ..., \"scale\": 10}, where the scale may be "+
			"a column, too. The member \"skip\": [{\"column\": \"status\", \"is\": [\"spam\"]}] leaves rows "+
			"out, scale, dates and zone are as the flags, and in JSON, whose columns are JSON "+
			"pointers, \"rows\": \"/products/*/reviews\" says where the reviews are")
	guess := f.Bool("guess", false,
		"print the mapping that is guessed from the names of the columns, the scale and the order of dates, to be "+
			"mended, and convert nothing")
	source := f.String("source", "", "`name` of the site that the reviews come from (default \"import\")")
	var scale float64
	f.Func("scale", "the best rating there is, such as 5 `stars`; without it the first 1,000 rows decide between 5, "+
		"10 and 100, and if a later one shows that this was wrong, nothing is written", func(text string) error {
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || !(n > 0 && n <= 100) {
			return errors.New("want the best rating, above 0 and at most 100")
		}
		scale = n
		return nil
	})
	charset := f.String("charset", "",
		"`name` of the character set, such as iso-8859-2; without it that is guessed, and said; a file that "+
			"two sets read differently, and as likely, is not converted")
	fill := f.Bool("fill", false, "where the rating of a dimension is empty, write the mean of the others")
	dates := f.String("dates", "",
		"what 03/04/2019 means, dmy or mdy; without it the `dates` of the first 1,000 rows decide, and if they do "+
			"not, the month is first with a slash and the day is first with dots or dashes")
	zone := f.String("zone", "",
		"`name` of the time zone, such as Europe/Berlin, of times that name none, unless the name of their column "+
			"says UTC or GMT; without it they are UTC")
	maxLine := maxLineFlag(f)
	rejects := f.String("rejects", "",
		"write the rows that were rejected to `FILE`, with the reasons, to be mended and converted again")
	written := outFlag(f)
	return func(ctx context.Context, p *program) (err error) {
		request := convert.Request{Source: *source, Scale: scale, Dates: *dates, Zone: *zone, Charset: *charset,
			Fill: *fill, MaxLine: *maxLine << 20}
		if *mapping != "" {
			text, err := os.ReadFile(*mapping)
			if err == nil {
				err = strictjson.Decode(text, &request.Mapping)
			}
			if err != nil {
				return usageError{fmt.Errorf("-mapping %s: %w", *mapping, err)}
			}
		}
		all, err := openInputs(ctx, p, f.Args(), shownFlags{rejects: new(string)}, false)
		if err != nil {
			return err
		}
		in := all.list[0]
		defer in.close()
		if *guess {
			sight, err := convert.Look(in, *charset)
			if err != nil {
				return fmt.Errorf("%s: %w", in.name, err)
			}
			if missing := sight.Mapping.Missing(); len(missing) > 0 {
				fmt.Fprintf(p.stderr, "missing: %s: name their columns, or a constant such as \"=lamp\"\n",
					printable(strings.Join(missing, ", ")))
			}
			for _, note := range sight.Notes {
				fmt.Fprintln(p.stderr, printable(note))
			}
			out := json.NewEncoder(p.stdout)
			out.SetEscapeHTML(false)
			out.SetIndent("", "  ")
			sight.Mapping["scale"] = sight.Scale
			if sight.Dates != "" {
				sight.Mapping["dates"] = sight.Dates
			}
			return out.Encode(sight.Mapping)
		}
		kept := "-rejects FILE keeps all of them"
		if *rejects != "" {
			switch {
			case in.is(*rejects):
				return usageError{fmt.Errorf("-rejects names %s, which is read: name another file", *rejects)}
			case *written != "" && sameFile(*rejects, *written):
				return usageError{fmt.Errorf("-rejects and -out name the same file: name two")}
			}
			file, err := createRejects(p, *rejects)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, file.Close()) }()
			request.Rejects = file
			kept = "in " + *rejects
		}
		if *written != "" && in.is(*written) {
			return usageError{fmt.Errorf("-out names %s, which is read: name another file", *written)}
		}
		request.File = in
		request.Progress = func(n int64) { in.bar.show(n, 0, "review", 0) }
		kinds := map[string]*rejection{}
		request.OnReject = func(r convert.Rejected) {
			kind := values.ReplaceAllString(r.Reason, "0")
			if kinds[kind] == nil {
				kinds[kind] = &rejection{}
			}
			kinds[kind].add(r)
		}
		var result convert.Result
		err = p.writeOut(*written, func(to io.Writer) error {
			out := bufio.NewWriterSize(to, 64<<10)
			request.To = out
			result, err = convert.Convert(ctx, request)
			return cmp.Or(err, out.Flush())
		})
		in.bar.end()
		if err != nil {
			return fmt.Errorf("%s: %w", in.name, err)
		}
		left := ""
		if result.Skipped > 0 {
			left = fmt.Sprintf("; %d left out", result.Skipped)
		}
		fmt.Fprintf(p.stderr, "converted: %s; %s rejected%s\n",
			count(result.Converted, "review"), count(result.RejectedTotal, "row"), left)
		for _, note := range result.Notes {
			fmt.Fprintln(p.stderr, printable(flagged.Replace(note)))
		}
		order := func(a, b *rejection) int {
			return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.first[0].Line, b.first[0].Line))
		}
		for _, kind := range slices.SortedFunc(maps.Values(kinds), order) {
			for _, r := range kind.first {
				fmt.Fprintf(p.stderr, "  line %d: %s\n", r.Line, printable(r.Reason))
			}
			if more := kind.count - int64(len(kind.first)); more > 0 {
				fmt.Fprintf(p.stderr, "  and %d more like this: %s\n", more, printable(kept))
			}
		}
		if result.RejectedTotal > 0 {
			return exitError{nil, exitFailed}
		}
		return nil
	}
}
