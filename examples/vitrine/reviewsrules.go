package main

import (
	"bufio"
	"context"
	"fmt"

	"github.com/vitrine-go/vitrine/reviews"
)

// printRules is the command reviews rules: it prints the rules of the import format, each with a wrong and a right
// example.
func printRules(_ context.Context, p *program, args []string) error {
	if err := p.parse(flags("reviews rules"), args); err != nil {
		return err
	}
	out := bufio.NewWriter(p.stdout)
	for i, rule := range reviews.Rules() {
		if i > 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprintf(out, "%s (%s)\n  %s\n  wrong: %s\n  right: %s\n", rule.ID, rule.Severity, wrapped(rule.Text, 2), rule.Wrong, rule.Right)
	}
	return out.Flush()
}

// printSchema is the command reviews schema: it prints the JSON Schema of a record.
func printSchema(_ context.Context, p *program, args []string) error {
	if err := p.parse(flags("reviews schema"), args); err != nil {
		return err
	}
	_, err := p.stdout.Write(reviews.RecordSchema())
	return err
}
