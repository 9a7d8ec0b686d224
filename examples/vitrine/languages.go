package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
)

// noLanguages is the value of -languages that takes the rule away.
const noLanguages = "none"

// parseLanguages reads the value of -languages. It returns nil if the flag is not given, and an empty list for none.
func parseLanguages(value string) ([]string, error) {
	switch value {
	case "":
		return nil, nil
	case noLanguages:
		return []string{}, nil
	}
	list, err := appsvc.ParseLanguages(strings.Split(value, ","))
	if err != nil {
		return nil, usageError{fmt.Errorf("-languages: %w", err)}
	}
	return list, nil
}

// setLanguages stores the languages of the flag if they differ from those of the store, and logs both.
func setLanguages(ctx context.Context, apps *appsvc.Service, list []string, log *slog.Logger) error {
	if list == nil {
		return nil
	}
	was, err := apps.Languages(ctx)
	if err != nil || slices.Equal(was, list) {
		return err
	}
	if err := apps.SetLanguages(ctx, list); errors.Is(err, vitrine.ErrConflict) {
		return exitError{fmt.Errorf("-languages: %w", err), exitUsage}
	} else if err != nil {
		return err
	}
	log.Info("the languages were changed", "were", strings.Join(was, ","), "are", strings.Join(list, ","))
	return nil
}
