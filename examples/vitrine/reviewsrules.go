package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"

	"github.com/vitrine-go/vitrine/reviews"
)

// printRules is the command reviews rules: it prints the rules of the import format, each with a wrong and a right
// example.
func printRules(*flag.FlagSet) action {
	return func(_ context.Context, p *program) error {
		out := bufio.NewWriter(p.stdout)
		for i, rule := range reviews.Rules() {
			if i > 0 {
				fmt.Fprintln(out)
			}
			fmt.Fprintf(out, "%s (%s)\n  %s\n  wrong: %s\n  right: %s\n", rule.ID, rule.Severity,
				wrapped(rule.Text, 2), rule.Wrong, rule.Right)
		}
		return out.Flush()
	}
}

// printSchema is the command reviews schema: it prints the JSON Schema of a record.
func printSchema(*flag.FlagSet) action {
	return func(_ context.Context, p *program) error {
		_, err := p.stdout.Write(reviews.RecordSchema())
		return err
	}
}
