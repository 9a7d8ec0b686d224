package main

import (
	"context"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/vitrine-go/vitrine/appsvc"
)

// noTagRules is the value of -protect-tags that removes all rules.
const noTagRules = "none"

// tagRules reads the values of -protect-tags and -approve. It returns nil if neither is given, and an empty list for no
// rules. A name that no tag can have is an error.
func tagRules(protect, approve string) (rules []appsvc.TagRule, err error) {
	wrong := func(format string, args ...any) ([]appsvc.TagRule, error) {
		return nil, usageError{fmt.Errorf(format, args...)}
	}
	switch {
	case protect == noTagRules && approve != "":
		return wrong("-protect-tags none takes all rules away: not with -approve")
	case protect == noTagRules:
		return []appsvc.TagRule{}, nil
	}
	at := map[string]int{}
	add := func(name string) *appsvc.TagRule {
		if _, there := at[name]; !there {
			at[name] = len(rules)
			rules = append(rules, appsvc.TagRule{Name: name, Protected: true})
		}
		return &rules[at[name]]
	}
	if protect != "" {
		for name := range strings.SplitSeq(protect, ",") {
			if !appsvc.ValidTagName(name) || name == noTagRules {
				return wrong("-protect-tags: %q cannot name a tag: want names without spaces, separated by commas, "+
					"or none alone", name)
			}
			add(name)
		}
	}
	if approve != "" {
		for item := range strings.SplitSeq(approve, ",") {
			name, rest, _ := strings.Cut(item, "=")
			count, word, independent := strings.Cut(rest, ":")
			n, err := strconv.Atoi(count)
			if !appsvc.ValidTagName(name) || err != nil || n < 1 || n > 10 || independent && word != "independent" {
				return wrong("-approve: %q: want the name of a tag and how many people must approve, 1 to 10, such as "+
					"production=1 or production=1:independent (-protect-tags without -approve takes approvals away)",
					item)
			}
			rule := add(name)
			if rule.Approvals > 0 {
				return wrong("-approve: %q is there twice", name)
			}
			rule.Approvals, rule.Independent = n, independent
		}
	}
	// as TagRules returns them
	slices.SortFunc(rules, func(a, b appsvc.TagRule) int { return strings.Compare(a.Name, b.Name) })
	return rules, nil
}

// setTagRules stores the rules of the flags if they differ from those of the store, and logs both.
func setTagRules(ctx context.Context, apps *appsvc.Service, rules []appsvc.TagRule, log *slog.Logger) error {
	if rules == nil {
		return nil
	}
	was, err := apps.TagRules(ctx)
	if err != nil {
		return err
	}
	if len(was)+len(rules) == 0 || reflect.DeepEqual(was, rules) {
		return nil
	}
	if err := apps.SetTagRules(ctx, rules); err != nil {
		return err
	}
	log.Info("the rules of tags were changed", "were", fmt.Sprintf("%+v", was), "are", fmt.Sprintf("%+v", rules))
	return nil
}
