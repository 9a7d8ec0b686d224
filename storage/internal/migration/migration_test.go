package migration_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/vitrine-go/vitrine/storage/internal/migration"
)

func TestSteps(t *testing.T) {
	for _, test := range []struct {
		name  string
		files []string
		steps []migration.Step
		wrong string // what the error names
	}{
		{"in the order of numbers", []string{"0010_tags.sql", "0002_apps.sql"},
			[]migration.Step{{2, "0002_apps.sql", "-- 0002_apps.sql"}, {10, "0010_tags.sql", "-- 0010_tags.sql"}}, ""},
		{"a number twice", []string{"0001_a.sql", "0001_b.sql"}, nil, "0001_b.sql"},
		{"numbers of different lengths", []string{"0010_a.sql", "002_b.sql"}, nil, "002_b.sql"},
		{"no number", []string{"0001_a.sql", "apps.sql"}, nil, "apps.sql"},
		{"no steps", nil, nil, "migrations"},
	} {
		t.Run(test.name, func(t *testing.T) {
			files := fstest.MapFS{}
			for _, name := range test.files {
				files["migrations/"+name] = &fstest.MapFile{Data: []byte("-- " + name)}
			}
			steps, err := migration.Steps(files)
			if !slices.Equal(steps, test.steps) || (err == nil) != (test.wrong == "") || err != nil && !strings.Contains(err.Error(), test.wrong) {
				t.Errorf("%+v, %v; want %+v, an error about %q", steps, err, test.steps, test.wrong)
			}
		})
	}
}

func TestCheckKnown(t *testing.T) {
	for schema, want := range map[int64]error{6: nil, 7: nil, 8: migration.ErrNewer} {
		if err := migration.CheckKnown(schema, 7); !errors.Is(err, want) {
			t.Errorf("schema %d, where 7 is known: %v, want %v", schema, err, want)
		}
	}
}
