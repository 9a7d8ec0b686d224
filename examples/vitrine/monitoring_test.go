//go:build proof

package main

import (
	"crypto/x509"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/internal/cluster"
)

// monitoring is where the dashboard and the alerts are, whatever the working directory of a test is.
var monitoring, _ = filepath.Abs("../deploy/monitoring")

// query is an expression of the dashboard or of an alert.
type query struct{ where, expr string }

// dashboardQueries returns the expressions of the dashboard, with its variables replaced.
func dashboardQueries(t *testing.T) (all []query, legends []string) {
	t.Helper()
	var dashboard struct {
		Panels []struct {
			ID      int
			Type    string
			Title   string
			GridPos struct{ H, W, X, Y int }
			Targets []struct{ Expr, LegendFormat string }
		}
		Annotations struct{ List []struct{ Expr string } }
		Templating  struct {
			List []struct{ Name, Definition string }
		}
	}
	text, err := os.ReadFile(filepath.Join(monitoring, "dashboard.json"))
	if err == nil {
		err = json.Unmarshal(text, &dashboard)
	}
	if err != nil {
		t.Fatal(err)
	}
	variables := strings.NewReplacer("$__rate_interval", "5m", "$__interval", "1m", "$job", ".*", "$instance", ".*")
	add := func(where, expr string) {
		if expr = variables.Replace(expr); strings.Contains(expr, "$") {
			t.Errorf("%s: a variable is not known: %s", where, expr)
		}
		all = append(all, query{where, expr})
	}
	ids := map[int]bool{}
	for _, p := range dashboard.Panels {
		if ids[p.ID] || p.Title == "" || p.GridPos.W == 0 || p.GridPos.X+p.GridPos.W > 24 {
			t.Errorf("panel %d %q: its id is taken, or it has no title or place", p.ID, p.Title)
		}
		if ids[p.ID] = true; (len(p.Targets) == 0) != (p.Type == "row") {
			t.Errorf("panel %q has %d queries", p.Title, len(p.Targets))
		}
		for _, target := range p.Targets {
			add("panel "+p.Title, target.Expr)
			legends = append(legends, target.LegendFormat)
		}
	}
	for _, a := range dashboard.Annotations.List {
		add("annotation", a.Expr)
	}
	for _, v := range dashboard.Templating.List {
		if at := strings.TrimSuffix(strings.TrimPrefix(v.Definition, "label_values("), ")"); at != "" {
			expr, _, _ := strings.Cut(at, ", ")
			add("variable "+v.Name, expr)
		}
	}
	return all, legends
}

// alertQueries returns the expressions of the alerts. Each alert has a summary and says what to do.
func alertQueries(t *testing.T) (all []query) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(monitoring, "vitrine-alerts.yml"))
	if err != nil {
		t.Fatal(err)
	}
	alert := regexp.MustCompile(`(?s)^(\w+)\n +expr: (?:>\n)?(.*?)\n(?: +for: \d+m\n)? +labels: \{severity: ` +
		`(?:critical|warning)\}\n +annotations:\n +summary: "[^\n]+\."\n +description: "[^\n]{60,}\."\n$`)
	parts := strings.Split(string(text), "      - alert: ")
	for _, part := range parts[1:] {
		found := alert.FindStringSubmatch(strings.TrimRight(part, "\n") + "\n")
		if found == nil {
			t.Fatalf("an alert needs an expression, a severity, a summary and what to do, in sentences: %s", part)
		}
		all = append(all, query{"alert " + found[1], found[2]})
	}
	return all
}

var (
	nameInQuery     = regexp.MustCompile(`\b(?:vitrine|go|process)_[a-z0-9_]+`)
	selectorInQuery = regexp.MustCompile(`\b([a-z]+_[a-z0-9_]+)\{([^}]*)\}`)
	labelInSelector = regexp.MustCompile(`([a-z_]+)(?:=|!=|=~|!~)"([^"]*)"`)
	labelsBy        = regexp.MustCompile(`by \(([a-z, ]+)\)`)
	labelInLegend   = regexp.MustCompile(`\{\{(\w+)\}\}`)
)

// scraped is what binaries serve: the values of each label, by the name of the figure and of the label.
type scraped map[string]map[string][]string

func (s scraped) add(have map[string]float64) {
	for series := range have {
		name, labels, _ := strings.Cut(strings.TrimSuffix(series, "}"), "{")
		if s[name] == nil {
			s[name] = map[string][]string{"job": nil, "instance": nil}
		}
		for _, l := range labelInSelector.FindAllStringSubmatch(labels, -1) {
			s[name][l[1]] = append(s[name][l[1]], l[2])
		}
	}
}

// scrapeBinaries runs the binary on SQLite, on PostgreSQL and over TLS, sends some requests, and returns what /metrics
// has.
func scrapeBinaries(t *testing.T) scraped {
	t.Helper()
	all, dir := scraped{}, t.TempDir()
	to, got := receiver(t)
	writeHooks(t, dir, 0o600, hook("all", to.URL+"/all", ""))
	s, address := metricsOf(t, dir, "-db", "v.db", "-webhooks", "hooks.json", "-webhooks-allow", "127.0.0.0/8")
	token := newToken(t, dir, nil, "-db", "v.db")
	s.create(token)
	next(t, got)
	s.do("junk", "GET", "/apps/", "", 401)
	s.do(token, "GET", "/healthz", "", 200)
	s.do(token, "POST", "/x/reviews/import", "", 200)
	s.do(token, "GET", "/x/reviews/export", "", 200)
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) { // they are counted after their ends
		have := readMetrics(t, address)
		all.add(have)
		if have[`vitrine_webhook_delay_seconds_count{webhook="all"}`] > 0 &&
			have[`vitrine_http_requests_total{code="200",method="GET",route="/x/reviews/export"}`] > 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the delivery or the export is not counted: %v", have)
		}
	}
	s.stop()

	if err := os.WriteFile(filepath.Join(dir, "key"), []byte("a key for tests, 32 bytes long.."), 0o600); err != nil {
		t.Fatal(err)
	}
	s, address = metricsOf(t, dir, "-db", cluster.Database(t), "-key-file", "key")
	have := readMetrics(t, address)
	if have["vitrine_postgres_connections_limit"] < 1 || have["vitrine_postgres_transactions_total"] < 1 ||
		have["vitrine_postgres_connections"] < 1 {
		t.Errorf("%v of %v connections, %v transactions", have["vitrine_postgres_connections"],
			have["vitrine_postgres_connections_limit"], have["vitrine_postgres_transactions_total"])
	}
	all.add(have)
	s.stop()

	writeCertificate(t, dir, 1, x509.Certificate{IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}})
	s, address = metricsOf(t, dir, "-db", "memory:", "-tls-cert", "cert.pem", "-tls-key", "key.pem")
	have = readMetrics(t, address)
	if left := time.Until(time.Unix(int64(have["vitrine_tls_certificate_expires_seconds"]), 0)); left <= 0 ||
		left > time.Hour {
		t.Errorf("the certificate expires in %s, want an hour", left)
	}
	all.add(have)
	s.stop()
	return all
}

// The dashboard and the alerts ask for figures and labels that the binary serves.
func TestDashboardAndAlertsAskForWhatIsServed(t *testing.T) {
	served := scrapeBinaries(t)
	queries, legends := dashboardQueries(t)
	queries = append(queries, alertQueries(t)...)
	known := map[string]bool{"job": true, "instance": true}
	for _, labels := range served {
		for label := range labels {
			known[label] = true
		}
	}
	asked := map[string]bool{}
	for _, q := range queries {
		for _, name := range nameInQuery.FindAllString(q.expr, -1) {
			asked[strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, "_bucket"), "_count"), "_sum")] = true
			if served[name] == nil {
				t.Errorf("%s: no binary serves %s", q.where, name)
			}
		}
		for _, selector := range selectorInQuery.FindAllStringSubmatch(q.expr, -1) {
			for _, label := range labelInSelector.FindAllStringSubmatch(selector[2], -1) {
				values, there := served[selector[1]][label[1]]
				if !there && selector[1] != "up" {
					t.Errorf("%s: %s has no label %s", q.where, selector[1], label[1])
				}
				if label[1] == "route" {
					checkRoutes(t, q.where, label[2], values)
				}
			}
		}
		for _, list := range labelsBy.FindAllStringSubmatch(q.expr, -1) {
			for label := range strings.SplitSeq(list[1], ", ") {
				if !known[label] {
					t.Errorf("%s: nothing has a label %s", q.where, label)
				}
			}
		}
	}
	for _, legend := range legends {
		for _, label := range labelInLegend.FindAllStringSubmatch(legend, -1) {
			if !known[label[1]] {
				t.Errorf("a legend names %s, which nothing has", label[1])
			}
		}
	}
	if len(queries) < 60 {
		t.Errorf("only %d queries were found", len(queries))
	}
	var unseen []string
	readme := readFile(t, monitoring, "README.md")
	for name := range served {
		base := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, "_bucket"), "_count"), "_sum")
		if !strings.HasPrefix(name, "vitrine_") {
			continue
		}
		if !asked[base] {
			unseen = append(unseen, name)
		}
		if !strings.Contains(readme, "`"+base+"`") && !strings.Contains(readme, "`"+base+"{") {
			t.Errorf("the README of the monitoring does not tell of %s", base)
		}
	}
	if slices.Sort(unseen); len(unseen) > 0 {
		t.Errorf("neither the dashboard nor an alert shows %s", strings.Join(unseen, ", "))
	}
}

// freshScrapes returns the series of processes that have answered no request: one on SQLite, over TLS and with a
// webhook, and one on PostgreSQL. It waits until the first one delivers.
func freshScrapes(t *testing.T) (onFile, onPostgres map[string]float64) {
	t.Helper()
	dir := t.TempDir()
	to, _ := receiver(t)
	writeHooks(t, dir, 0o600, hook("cdn", to.URL+"/all", ""))
	writeCertificate(t, dir, 1, x509.Certificate{IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}})
	s, address := metricsOf(t, dir, "-db", "v.db", "-webhooks", "hooks.json", "-webhooks-allow", "127.0.0.0/8",
		"-tls-cert", "cert.pem", "-tls-key", "key.pem")
	end := time.Now().Add(time.Minute)
	for ; onFile["vitrine_webhooks_delivering"] != 1; time.Sleep(10 * time.Millisecond) {
		if onFile = readMetrics(t, address); time.Now().After(end) {
			t.Fatal("the process does not deliver")
		}
	}
	s.stop()
	if err := os.WriteFile(filepath.Join(dir, "key"), []byte("a key for tests, 32 bytes long.."), 0o600); err != nil {
		t.Fatal(err)
	}
	s, address = metricsOf(t, dir, "-db", cluster.Database(t), "-key-file", "key")
	onPostgres = readMetrics(t, address)
	s.stop()
	onFile["vitrine_disk_bytes"], onFile["vitrine_disk_free_bytes"] = 100e9, 50e9 // of a machine with room
	return onFile, onPostgres
}

// Whatever the dashboard and the alerts select is there before the first request: an increase is not seen in a series
// that begins with it.
func TestAFreshProcessHasWhatIsAskedFor(t *testing.T) {
	onFile, onPostgres := freshScrapes(t)
	queries, _ := dashboardQueries(t)
	selector := regexp.MustCompile(`\b([a-z]+_[a-z0-9_]+)(?:\{([^}]*)\})?`)
	// Other matchers exclude series, and the labels of Prometheus are not in a scrape.
	positive := regexp.MustCompile(`([a-z_]+)(=|=~)"([^"]*)"`)
	asked := 0
	for _, q := range append(queries, alertQueries(t)...) {
		for _, s := range selector.FindAllStringSubmatch(q.expr, -1) {
			if !nameInQuery.MatchString(s[1]) {
				continue // a function, or up
			}
			asked++
			has := func(series string) bool {
				name, labels, _ := strings.Cut(series, "{")
				if name != s[1] {
					return false
				}
				for _, m := range positive.FindAllStringSubmatch(s[2], -1) {
					pattern := regexp.QuoteMeta(m[3])
					if m[2] == "=~" {
						pattern = "(?:" + m[3] + ")"
					}
					matcher := regexp.MustCompile(`(?:^|,)` + m[1] + `="` + pattern + `"`)
					if m[1] != "job" && m[1] != "instance" && !matcher.MatchString(labels) {
						return false
					}
				}
				return true
			}
			found := false
			for _, scrape := range []map[string]float64{onFile, onPostgres} {
				for series := range scrape {
					found = found || has(series)
				}
			}
			if !found {
				t.Errorf("%s: a process that has answered nothing does not serve %s", q.where, s[0])
			}
		}
	}
	if asked < 80 {
		t.Errorf("only %d selectors were found", asked)
	}
}

// events are what makes each alert fire: the values of series of a process from the tenth minute on, in the notation of
// promtool, one a minute. A series that no fresh process has is marked with +.
var events = map[string]map[string]string{
	"VitrineDown":           {"+up": "0x40"},
	"VitrineRestarts":       {"process_start_time_seconds": "400x3 700x3 900x40"},
	"VitrineInternalErrors": {`vitrine_http_refused_total{reason="internal"}`: "1x40"},
	"VitrineUnavailable": {
		`vitrine_http_refused_total{reason="unavailable"}`:                      "1+12x40",
		`vitrine_http_requests_total{code="503",method="GET",route="/healthz"}`: "1+12x40",
	},
	"VitrineStoreMoved":     {"vitrine_sqlite_moved": "1x40"},
	"VitrineStorageFull":    {`vitrine_http_refused_total{reason="full"}`: "1x40"},
	"VitrineDiskNearlyFull": {"vitrine_disk_free_bytes": "9000000000x40"},
	"VitrineCopyOld":        {"vitrine_last_copy_timestamp_seconds": "-120000x40"},
	"VitrineUnknownOutcome": {`vitrine_http_refused_total{reason="unknown_outcome"}`: "1x40"},
	"VitrineSlow": {
		`+vitrine_http_request_duration_seconds_bucket{method="GET",route="/apps/",le="1"}`:    "0x40",
		`+vitrine_http_request_duration_seconds_bucket{method="GET",route="/apps/",le="5"}`:    "1+1x40",
		`+vitrine_http_request_duration_seconds_bucket{method="GET",route="/apps/",le="+Inf"}`: "1+1x40",
	},
	"VitrineMemoryInFlight":     {"vitrine_http_memory_bytes": "250000000x40"},
	"VitrineResidentMemory":     {"process_resident_memory_bytes": "810000000x40"},
	"VitrineDescriptors":        {"process_open_fds": "1000000000x40"},
	"VitrineConnections":        {"vitrine_connections_open": "1000000x40", "vitrine_connections_idle": "0x40"},
	"VitrineImportsWait":        {"vitrine_uploads_in_flight": "32x40"},
	"VitrineRefusedTokens":      {`vitrine_http_refused_total{reason="unauthorized"}`: "1+120x40"},
	"VitrineLogLong":            {"vitrine_sqlite_log_bytes": "600000000x40"},
	"VitrinePoolWaits":          {"vitrine_postgres_connection_wait_seconds_total": "1+120x40"},
	"VitrineStreamsBehind":      {"vitrine_event_streams_lag_seconds": "130+60x40"},
	"VitrineStreamsFull":        {"vitrine_event_streams_open": "1900x40"},
	"VitrineWebhookBehind":      {`vitrine_webhook_lag_seconds{webhook="cdn"}`: "1000+60x40"},
	"VitrineWebhookDisabled":    {`vitrine_webhook_disabled{webhook="cdn"}`: "1x40"},
	"VitrineWebhookSkipped":     {`vitrine_webhook_attempts_total{outcome="skipped",webhook="cdn"}`: "1x40"},
	"VitrineNobodyDelivers":     {"vitrine_webhooks_delivering": "0x40"},
	"VitrineReloadFailed":       {`vitrine_reload_failed{what="keys"}`: "1x40"},
	"VitrineCertificateExpires": {"vitrine_tls_certificate_expires_seconds": "600000x40"},
}

// Each alert fires at its first event, and no other one with it, in series that begin as a fresh process serves them.
func TestEachAlertFiresAtTheFirstEvent(t *testing.T) {
	tool := promtool(t)
	onFile, onPostgres := freshScrapes(t)
	alerts := alertQueries(t)
	var tests strings.Builder
	rules := filepath.Join(monitoring, "vitrine-alerts.yml")
	fmt.Fprintf(&tests, "rule_files: [%q]\nevaluation_interval: 1m\ntests:\n", rules)
	for _, name := range append([]string{"none"}, slices.Sorted(maps.Keys(events))...) {
		fresh := onFile
		if name == "VitrinePoolWaits" {
			fresh = onPostgres
		}
		fmt.Fprintf(&tests, "  - name: %s\n    interval: 1m\n    input_series:\n", name)
		series := func(of, values string) {
			metric, labels, _ := strings.Cut(strings.TrimSuffix(of, "}"), "{")
			labels = strings.TrimPrefix(labels+`,job="vitrine",instance="a"`, ",")
			fmt.Fprintf(&tests, "      - {series: '%s{%s}', values: '%s'}\n", metric, labels, values)
		}
		if name != "VitrineDown" {
			series("up", "1x50")
		}
		// The node exporter tells of the copies of a store in PostgreSQL.
		tests.WriteString("      - {series: 'vitrine_last_copy_timestamp_seconds{job=\"node\"}', values: '0x50'}\n")
		for of, value := range fresh {
			begins := strconv.FormatFloat(value, 'f', -1, 64)
			if event := events[name][of]; event != "" {
				series(of, begins+"x9 "+event)
			} else {
				series(of, begins+"x50")
			}
		}
		for of, event := range events[name] {
			if later, ok := strings.CutPrefix(of, "+"); ok {
				series(later, "_x9 "+event)
			} else if _, ok := fresh[of]; !ok {
				t.Errorf("%s: a fresh process does not serve %s", name, of)
			}
		}
		// The moment at which it fires differs by its "for", and an increase is over after its window.
		fmt.Fprintf(&tests, "    promql_expr_test:\n      - {expr: '%s', eval_time: 40m, exp_samples: [",
			`count by (alertname) (max_over_time(ALERTS{alertstate="firing"}[40m]))`)
		if name != "none" {
			fmt.Fprintf(&tests, "{labels: '{alertname=%q}', value: 1}", name)
		}
		tests.WriteString("]}\n")
	}
	for _, q := range alerts {
		if events[strings.TrimPrefix(q.where, "alert ")] == nil {
			t.Errorf("no event makes %s fire", q.where)
		}
	}
	file := filepath.Join(t.TempDir(), "test.yml")
	if err := os.WriteFile(file, []byte(tests.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(tool, "test", "rules", file).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// checkRoutes checks that each alternative of an expression about routes matches one that is served.
func checkRoutes(t *testing.T, where, expr string, served []string) {
	t.Helper()
	before, inner, found := strings.Cut(expr, "(")
	alternatives := strings.Split(before, "|")
	if found {
		last := alternatives[len(alternatives)-1]
		alternatives = alternatives[:len(alternatives)-1]
		for one := range strings.SplitSeq(strings.TrimSuffix(inner, ")"), "|") {
			alternatives = append(alternatives, last+one)
		}
	}
	for _, one := range alternatives {
		matches := regexp.MustCompile("^(?:" + one + ")$")
		if !slices.ContainsFunc(served, matches.MatchString) {
			t.Errorf("%s: no route is called %s: %q", where, one, served)
		}
	}
}

// promtool returns the program that checks Prometheus's files, or skips the test where it is not installed.
func promtool(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("promtool")
	if err != nil && os.Getenv("VITRINE_CI") != "" {
		t.Fatalf("%v: VITRINE_CI=1 says that it shall be there (Debian: prometheus)", err)
	}
	if err != nil {
		t.Skip("promtool is not installed (Debian: prometheus)")
	}
	return path
}

func TestPrometheusTakesTheAlertsAndTheQueries(t *testing.T) {
	tool := promtool(t)
	dir := t.TempDir()
	for _, name := range []string{"prometheus.yml", "vitrine-alerts.yml", "vitrine-alerts_test.yml"} {
		text, err := os.ReadFile(filepath.Join(monitoring, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	queries, _ := dashboardQueries(t)
	rules := "groups:\n  - name: dashboard\n    rules:\n"
	for i, q := range queries {
		text, err := json.Marshal(q.expr) // is YAML, too
		if err != nil {
			t.Fatal(err)
		}
		rules += fmt.Sprintf("      - record: vitrine:query%d\n        expr: %s\n", i, text)
	}
	if err := os.WriteFile(filepath.Join(dir, "dashboard.yml"), []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	check := func(args ...string) (string, error) {
		command := exec.Command(tool, args...)
		command.Dir = dir
		out, err := command.CombinedOutput()
		return string(out), err
	}
	for _, args := range [][]string{
		{"check", "config", "prometheus.yml"}, {"check", "rules", "vitrine-alerts.yml"},
		{"check", "rules", "dashboard.yml"}, {"test", "rules", "vitrine-alerts_test.yml"},
	} {
		if out, err := check(args...); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	// Each alert has a test in which it fires.
	tests, err := os.ReadFile(filepath.Join(dir, "vitrine-alerts_test.yml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range alertQueries(t) {
		name := strings.TrimPrefix(q.where, "alert ")
		if !strings.Contains(string(tests), `alertname="`+name+`"`) {
			t.Errorf("%s has no test in which it fires", name)
		}
	}
	changed := strings.Replace(readFile(t, dir, "vitrine-alerts.yml"), "> 900", "> 9000", 1)
	if err := os.WriteFile(filepath.Join(dir, "vitrine-alerts.yml"), []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := check("test", "rules", "vitrine-alerts_test.yml"); err == nil ||
		!strings.Contains(out, "VitrineWebhookBehind") {
		t.Errorf("an alert that fires too late passes its test: %v, %s", err, out)
	}
}

// Prometheus reads what the binary serves.
func TestPromtoolReadsTheMetrics(t *testing.T) {
	tool := promtool(t)
	s, address := metricsOf(t, t.TempDir(), "-db", "v.db")
	answer, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	command := exec.Command(tool, "check", "metrics")
	command.Stdin = answer.Body
	if out, err := command.CombinedOutput(); err != nil {
		t.Errorf("promtool check metrics: %v\n%s", err, out)
	}
	s.stop()
}
