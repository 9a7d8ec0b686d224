//go:build proof

package ondisk

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/internal/cluster"
)

// question is a search of posts, in our words and in those of full-text engines.
type question struct {
	name    string
	in      assets.SearchRequest
	fts     string // for MATCH of FTS5; "" = it cannot be asked
	tsquery string // an expression of PostgreSQL
}

var questions = []question{
	{"common word", assets.SearchRequest{Query: "wa"}, `wa`, `to_tsquery('simple', 'wa')`},
	{"two words", assets.SearchRequest{Query: "wa wm"}, `wa wm`, `to_tsquery('simple', 'wa & wm')`},
	{"phrase of two common words", assets.SearchRequest{Query: `"bade wa"`}, `"bade wa"`,
		`to_tsquery('simple', 'bade <-> wa')`},
	{"phrase of a longer and a common word", assets.SearchRequest{Query: `"babade wa"`}, `"babade wa"`,
		`to_tsquery('simple', 'babade <-> wa')`},
	{"prefix", assets.SearchRequest{Query: "zen*"}, `zen*`, `to_tsquery('simple', 'zen:*')`},
	{"exclusion", assets.SearchRequest{Query: "wa -bade"}, `wa NOT bade`, `to_tsquery('simple', 'wa & !bade')`},
	// pg_trgm finds similar words, and levenshtein judges them by our rule
	{"one typo", assets.SearchRequest{Query: "babde", Typos: true}, ``,
		`(SELECT to_tsquery('simple', string_agg(word, ' | ')) FROM word WHERE word % 'babde' AND levenshtein(word, ` +
			`'babde') <= 1 AND word LIKE 'b%')`},
	{"common word by createdAt", assets.SearchRequest{Query: "wa", Sort: "createdAt"}, `wa`,
		`to_tsquery('simple', 'wa')`},
}

// peer is an engine that answers questions: the newest 50 posts, by their createdAt, and the exact number of all.
type peer struct {
	name string
	cpu  func() time.Duration // processor time so far
	ask  func(q question, by vitrine.Caller) (page []int64, total int64, err error)
}

// BenchmarkPeers asks the library and other engines the same questions. All have the same posts, and must give the same
// 50 and the same number.
//
//	go test -tags proof ./internal/ondisk -run '^$' -bench Peers -benchtime 50x -timeout 0 -posts 200000
func BenchmarkPeers(b *testing.B) {
	db, s, folders, size := openPosts(b)
	defer db.Close()
	for ; size < *postCount; size += 200 {
		addPosts(b, s, size, 200, folders)
	}
	peers := []peer{
		{"vitrine", cpu, func(q question, by vitrine.Caller) (page []int64, total int64, err error) {
			found, err := s.As(by).Search(ctx, lib, q.in)
			for _, a := range found.Assets {
				page = append(page, a.CreatedAt)
			}
			return page, found.Total, err
		}},
		fts5(b, s, folders, size),
		postgreSQL(b, s, folders, size),
	}
	for _, by := range []vitrine.Caller{moderator, half} {
		for _, q := range questions {
			name := q.name
			if by.URN == half.URN {
				name += ", half of the folders"
			}
			answers := map[string]string{}
			for _, p := range peers {
				if p.name == "FTS5" && q.fts == "" {
					continue
				}
				b.Run(name+"/"+p.name, func(b *testing.B) { answers[benchPeer(b, p, q, by)] += " " + p.name })
			}
			if len(answers) > 1 {
				b.Errorf("%s: the answers differ: %v", name, answers)
			}
		}
	}
}

// benchPeer measures a question and returns the answer. The first time is that of a question which was not asked
// before.
func benchPeer(b *testing.B, p peer, q question, by vitrine.Caller) (answer string) {
	var times []time.Duration
	before := p.cpu()
	for b.Loop() {
		begin := time.Now()
		page, total, err := p.ask(q, by)
		if err != nil {
			b.Fatal(err)
		}
		times = append(times, time.Since(begin))
		answer = fmt.Sprint(total, page)
		b.ReportMetric(float64(total), "found")
	}
	b.ReportMetric(float64((p.cpu()-before).Microseconds())/float64(len(times)), "cpu-µs/op")
	b.ReportMetric(float64(times[0].Microseconds()), "first-µs")
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Microseconds()), "median-µs")
	return answer
}

// fts5 is SQLite with the index FTS5, in the same SQLite that keeps the library.
func fts5(b *testing.B, s *assets.Service, folders []string, size int) peer {
	db := openPeer(b, "sqlite",
		filepath.Join(b.TempDir(), "fts5.db")+"?_pragma=cache_size(-262144)&_pragma=journal_mode(wal)")
	fillPeer(b, db, s, folders, size, "?",
		`CREATE TABLE post (id INTEGER PRIMARY KEY, created INTEGER, folder TEXT, text TEXT, content TEXT)`,
		`CREATE TABLE place (post INTEGER, folder TEXT, PRIMARY KEY (post, folder)) WITHOUT ROWID`,
		`CREATE TABLE visible (who TEXT, folder TEXT, PRIMARY KEY (who, folder)) WITHOUT ROWID`)
	run(b, db,
		`CREATE INDEX post_created ON post (created)`,
		`CREATE VIRTUAL TABLE fts USING fts5 (text, content='post', content_rowid='id', prefix='3')`,
		`INSERT INTO fts (fts) VALUES ('rebuild')`,
		`INSERT INTO fts (fts) VALUES ('optimize')`,
		`ANALYZE`)
	return peer{"FTS5", cpu, func(q question, by vitrine.Caller) ([]int64, int64, error) {
		where := " WHERE fts MATCH '" + q.fts + "'" + visibleTo(by, "fts.rowid")
		return askSQL(db, "SELECT created, content FROM fts JOIN post ON id = fts.rowid"+where+newest(q, "fts.rowid"),
			"SELECT count(*) FROM fts"+where)
	}}
}

// postgreSQL is a cluster with its text search, without parallel workers and compiled queries, so that its processor
// time is that of the one process that answers.
func postgreSQL(b *testing.B, s *assets.Service, folders []string, size int) peer {
	c := cluster.New(b,
		&cluster.Options{Settings: []string{"shared_buffers = 512MB", "work_mem = 64MB", "jit = off",
			"max_parallel_workers_per_gather = 0"}})
	db := openPeer(b, "pgx", c.URL("postgres"))
	fillPeer(b, db, s, folders, size, "$",
		`CREATE TABLE post (id int8 PRIMARY KEY, created int8, folder text, text text, content text, words tsvector `+
			`GENERATED ALWAYS AS (to_tsvector('simple', text)) STORED)`,
		`CREATE TABLE place (post int8, folder text, PRIMARY KEY (post, folder))`,
		`CREATE TABLE visible (who text, folder text, PRIMARY KEY (who, folder))`)
	run(b, db,
		`CREATE INDEX ON post (created)`,
		`CREATE INDEX ON post USING gin (words)`,
		`CREATE EXTENSION pg_trgm`,
		`CREATE EXTENSION fuzzystrmatch`,
		`CREATE TABLE word AS SELECT word FROM ts_stat('SELECT words FROM post')`,
		`CREATE INDEX ON word USING gin (word gin_trgm_ops)`,
		`VACUUM ANALYZE`)
	used := func() time.Duration { return cpu() + c.Processor() }
	return peer{"PostgreSQL", used, func(q question, by vitrine.Caller) ([]int64, int64, error) {
		where := " FROM post WHERE words @@ " + q.tsquery + visibleTo(by, "id")
		return askSQL(db, "SELECT created, content"+where+newest(q, "id"), "SELECT count(*)"+where)
	}}
}

// visibleTo is the condition that a caller sees the post with this id, in one of its folders.
func visibleTo(by vitrine.Caller, id string) string {
	if by.URN != half.URN {
		return ""
	}
	return " AND EXISTS (SELECT 1 FROM place JOIN visible ON visible.folder = place.folder WHERE place.post = " + id +
		" AND who = 'half')"
}

// newest is the order and the length of the page, for posts that are numbered by this column.
func newest(q question, number string) string {
	if q.in.Sort == "createdAt" {
		number = "created"
	}
	return " ORDER BY " + number + " DESC LIMIT 50"
}

// openPeer opens a database with one connection.
func openPeer(b *testing.B, driver, address string) *sql.DB {
	db, err := sql.Open(driver, address)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	db.SetMaxOpenConns(1)
	return db
}

func run(b *testing.B, db *sql.DB, statements ...string) {
	for _, statement := range statements {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			b.Fatalf("%s: %v", statement, err)
		}
	}
}

// fillPeer makes the tables and puts the posts and the folders that half sees into them. param is what a parameter
// begins with.
func fillPeer(b *testing.B, db *sql.DB, s *assets.Service, folders []string, size int, param string, tables ...string) {
	run(b, db, tables...)
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer tx.Rollback()
	insert, err := tx.PrepareContext(ctx,
		strings.ReplaceAll("INSERT INTO post (id, created, folder, text, content) VALUES ($1, $2, $3, $4, $5)", "$",
			param))
	if err != nil {
		b.Fatal(err)
	}
	for i := range size {
		p := post(i, folders)
		if _, err := insert.ExecContext(ctx, i, p.CreatedAt.UnixMilli(), p.Folders[0], postText(b, p),
			string(p.Content)); err != nil {
			b.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		b.Fatal(err)
	}
	run(b, db, "INSERT INTO place SELECT id, folder FROM post")
	for f, err := range s.As(half).AllFolders(ctx, lib, assets.ListFoldersRequest{}) {
		if err != nil {
			b.Fatal(err)
		}
		run(b, db, "INSERT INTO visible VALUES ('half', '"+f.ID+"')")
	}
}

// postText is the text that a search of the library looks into: that of the post, without HTML, and the names of its
// author.
func postText(b *testing.B, p assets.NewAsset) string {
	var content struct {
		Content      string
		AttributedTo struct{ Username, DisplayName string }
	}
	if err := json.Unmarshal(p.Content, &content); err != nil {
		b.Fatal(err)
	}
	text := strings.TrimSuffix(strings.TrimPrefix(content.Content, "<p>"), "</p>")
	return text + " " + content.AttributedTo.Username + " " + content.AttributedTo.DisplayName
}

// askSQL asks for a page and for the number of all.
func askSQL(db *sql.DB, list, count string) (page []int64, total int64, err error) {
	rows, err := db.QueryContext(ctx, list)
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var created int64
		var content []byte
		if err := rows.Scan(&created, &content); err != nil {
			return nil, 0, err
		}
		page = append(page, created)
	}
	if err := rows.Err(); err != nil {
		return nil, 0, err
	}
	return page, total, db.QueryRowContext(ctx, count).Scan(&total)
}
