package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/vitrine-go/vitrine/internal/strictjson"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/reviews/convert"
)

// convertReviews is the command reviews convert: it writes a table of reviews to standard output in the import format. It says on
// standard error how many rows were converted, and why others were not.
func convertReviews(ctx context.Context, p *program, args []string) (err error) {
	f := flags("reviews convert")
	mapping := f.String("mapping", "", "`FILE` that says which columns the fields come from, as JSON: {\"body\": \"Review Text\"}; without it they are guessed")
	guess := f.Bool("guess", false, "print the mapping that is guessed from the names of the columns, to be mended, and convert nothing")
	source := f.String("source", "import", "`name` of the site that the reviews come from")
	scale := f.Float64("scale", 5, "the best rating there is, such as 5 `stars`")
	dates := f.String("dates", "", "what 03/04/2019 means, dmy or mdy; without it the other `dates` of the file decide")
	rejects := f.String("rejects", "", "write the rows that were rejected to `FILE`, with the reasons, to be mended and converted again")
	if err := p.parse(f, args, "IN.csv (or - for standard input)"); err != nil {
		return err
	}
	request := convert.Request{Source: *source, Scale: *scale, Dates: *dates}
	if *mapping != "" {
		text, err := os.ReadFile(*mapping)
		if err == nil {
			err = strictjson.Decode(text, &request.Mapping)
		}
		if err != nil {
			return usageError{fmt.Errorf("%s: -mapping %s: %w", f.Name(), *mapping, err)}
		}
	}
	in, err := openInput(ctx, p, f.Arg(0))
	if err != nil {
		return err
	}
	defer in.close()
	if *guess {
		sight, err := convert.Look(in)
		if err != nil {
			return fmt.Errorf("%s: %w", in.name, err)
		}
		out := json.NewEncoder(p.stdout)
		out.SetEscapeHTML(false)
		out.SetIndent("", "  ")
		return out.Encode(sight.Mapping)
	}
	if *rejects != "" {
		if in.is(p, *rejects) {
			return usageError{fmt.Errorf("%s: -rejects names %s, which is read: name another file", f.Name(), *rejects)}
		}
		file, err := os.Create(*rejects)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		request.Rejects = file
	}
	out := bufio.NewWriterSize(p.stdout, 64<<10)
	request.File, request.To = in, out
	request.Progress = func(n int64) { in.bar.show(reviews.Progress{Bytes: n}) }
	result, err := convert.Convert(ctx, request)
	if err == nil {
		err = out.Flush()
	}
	in.bar.end()
	if err != nil {
		return fmt.Errorf("%s: %w", in.name, err)
	}
	fmt.Fprintf(p.stderr, "converted: %s; %s rejected\n", count(result.Converted, "review"), count(result.RejectedTotal, "row"))
	const shown = 10
	for _, r := range result.Rejected[:min(len(result.Rejected), shown)] {
		fmt.Fprintf(p.stderr, "  line %d: %s\n", r.Line, printable(r.Reason))
	}
	if more := result.RejectedTotal - shown; more > 0 {
		fmt.Fprintf(p.stderr, "  and %d more: -rejects FILE keeps all of them\n", more)
	}
	if result.RejectedTotal > 0 {
		return exitError{nil, exitFailed}
	}
	return nil
}
